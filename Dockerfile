# The daemon in an image of its own: Node, what it is linked with, and scanferry. No shell, no
# package manager, no program of any other kind; nothing in it belongs to the user that it runs as.
#
#   docker build -t scanferry .
#   docker run --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges -p 8470:8470 \
#     -v scanferry:/var/lib/scanferry -v /srv/scans:/srv/scans:ro \
#     -v /etc/scanferry:/etc/scanferry:ro scanferry
#   docker exec NAME scanferry status
#
# For amd64 and arm64: docker buildx build --platform linux/amd64,linux/arm64 .

# The version that package.json pins for development; a test holds the two together.
ARG NODE_VERSION=24.21.0
# Anything with Node, npm, binutils and glibc; scripts/proof/container.sh gives one of its own.
ARG BASE=docker.io/library/node:${NODE_VERSION}-bookworm

# BuildKit fills them in; elsewhere they may be empty, for the architecture that is built on.
ARG BUILDPLATFORM
ARG TARGETPLATFORM

# What is built is the same for every architecture, and emulation is slow: on the builder's own.
FROM --platform=${BUILDPLATFORM} ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json ./
# No script of a package runs: the image brings Node, and the journal's library its own binaries.
# A registry of one's own: --secret id=npmrc,src=$HOME/.npmrc
RUN --mount=type=secret,id=npmrc,target=/etc/npmrc \
    NPM_CONFIG_USERCONFIG=/etc/npmrc npm ci --ignore-scripts --no-audit --no-fund
COPY scripts/build.ts ./scripts/
COPY scripts/package/packages.ts ./scripts/package/
COPY src ./src
RUN node scripts/build.ts \
 && npm prune --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund

# Node, and the libraries that it is linked with, are those of the image's architecture.
FROM --platform=${TARGETPLATFORM} ${BASE} AS root
COPY --from=build /app /app
COPY scripts/image-root scripts/slim-modules /tools/
RUN /tools/image-root /app /image

FROM scratch
COPY --from=root /image /
# A page on the container's own loopback would be nobody's. Where no token is given, the daemon makes one.
ENV NODE_ENV=production \
    SCANFERRY_WEB_LISTEN=0.0.0.0:8470 \
    MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
WORKDIR /app
COPY package.json LICENSE ./
COPY assets ./assets
COPY config ./config
COPY samples ./samples
# Any other number does as well (--user): it needs to own nothing here.
USER 10001:10001
VOLUME ["/var/lib/scanferry"]
EXPOSE 8470
# Node itself is process 1: it gets the signals that npm or a shell would keep to themselves.
ENTRYPOINT ["/bin/node", "--inspect-port=240.0.0.1:9229", "--max-semi-space-size=16", "--single-threaded-gc", "/app/dist/main.js"]
CMD ["run"]
STOPSIGNAL SIGTERM
# For a page elsewhere, or none, give another address: -e SCANFERRY_HEALTH_URL=...
ENV SCANFERRY_HEALTH_URL=http://127.0.0.1:8470/healthz
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
  CMD ["/bin/node", "-e", "fetch(process.env.SCANFERRY_HEALTH_URL, { signal: AbortSignal.timeout(4000) }).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
