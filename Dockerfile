# The daemon in an image of its own: no build tools, no development packages, no root.
#
#   docker build -t scanferry .
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges \
#     -v scanferry:/var/lib/scanferry -v /srv/scans:/srv/scans:ro \
#     -v /etc/scanferry:/etc/scanferry:ro scanferry

# The version that package.json pins for development; a test holds the two together.
ARG NODE_VERSION=24.21.0

FROM node:${NODE_VERSION}-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No script of a package runs: the image brings Node, and the journal's library its own binaries.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN node_modules/.bin/tsc -p tsconfig.build.json \
 && npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:${NODE_VERSION}-slim
ENV NODE_ENV=production
WORKDIR /app
# 10001 owns nothing here but the journal's place, so that it cannot change what it runs.
RUN install -d -m 0700 -o 10001 -g 10001 /var/lib/scanferry
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY assets ./assets
COPY config ./config
COPY samples ./samples
USER 10001:10001
VOLUME ["/var/lib/scanferry"]
EXPOSE 8470
# Node itself is process 1: it gets the signals that npm or a shell would keep to themselves.
ENTRYPOINT ["node", "/app/dist/main.js"]
CMD ["run"]
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8470/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
