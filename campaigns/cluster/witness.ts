/**
 * What the database itself saw: every claim and every change of an assignment is written down next to the
 * journal as it happens, within the same transaction, by triggers that the daemons know nothing of.
 */
import type { Postgres } from "../../test/fixtures/postgres.ts";
import { until } from "../../test/fixtures/until.ts";

/** Longer than the first daemon takes to make its tables on a busy machine. */
const PATIENCE_MS = 120_000;

export class Witness {
  readonly #postgres: Postgres;
  readonly #journal: string;
  readonly #notes: string;

  private constructor(postgres: Postgres, journal: string) {
    this.#postgres = postgres;
    this.#journal = journal;
    this.#notes = `witness_of_${journal}`;
  }

  /** Watches the journal in this schema from the moment at which its tables are there. */
  static async of(postgres: Postgres, journal: string): Promise<Witness> {
    const witness = new Witness(postgres, journal);
    await until(
      "the journal's tables",
      async () => {
        const [row] = await postgres.ask(`SELECT to_regclass('${journal}.assignments') AS made`);
        return row?.["made"];
      },
      PATIENCE_MS,
    );
    await postgres.ask(witness.#script());
    return witness;
  }

  /** Laws that were broken, one line each. */
  async broken(): Promise<string[]> {
    const rows = await this.#postgres.ask(`SELECT what FROM ${this.#notes}.broken ORDER BY at`);
    return rows.map(({ what }) => String(what));
  }

  /** How often an assignment passed from one instance to another, and how many instances were declared lost. */
  async figures(): Promise<{ moves: number; lost: number; instances: number }> {
    const [row] = await this.#postgres.ask(
      `SELECT (SELECT count(*)::int FROM ${this.#notes}.moves) AS moves,
              (SELECT count(*)::int FROM ${this.#journal}.instances WHERE lost) AS lost,
              (SELECT count(*)::int FROM ${this.#journal}.instances) AS instances`,
    );
    return row as { moves: number; lost: number; instances: number };
  }

  #script(): string {
    const [own, notes] = [this.#journal, this.#notes];
    return `
      CREATE SCHEMA ${notes};
      CREATE TABLE ${notes}.broken (at timestamptz DEFAULT clock_timestamp(), what text);
      CREATE TABLE ${notes}.moves (at timestamptz DEFAULT clock_timestamp(), assignment text,
                                   former bigint, later bigint);
      -- The last holder of each assignment, also while nobody has it.
      CREATE TABLE ${notes}.holders (assignment text PRIMARY KEY, instance bigint);

      CREATE FUNCTION ${notes}.assignment() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      DECLARE former bigint;
      BEGIN
        SELECT instance INTO former FROM ${notes}.holders WHERE assignment = NEW.assignment;
        IF former IS NOT DISTINCT FROM NEW.instance THEN RETURN NEW; END IF;
        INSERT INTO ${notes}.moves (assignment, former, later) VALUES (NEW.assignment, former, NEW.instance);
        IF TG_OP = 'UPDATE' AND EXISTS (
          SELECT 1 FROM ${own}.instances WHERE id = OLD.instance AND NOT lost AND id <> NEW.instance
        ) THEN
          INSERT INTO ${notes}.broken (what) VALUES (format(
            'assignment %s went from instance %s, who is not lost, to %s', NEW.assignment, OLD.instance, NEW.instance));
        END IF;
        INSERT INTO ${notes}.holders VALUES (NEW.assignment, NEW.instance)
          ON CONFLICT (assignment) DO UPDATE SET instance = NEW.instance;
        RETURN NEW;
      END $$;
      CREATE TRIGGER witness AFTER INSERT OR UPDATE ON ${own}.assignments
        FOR EACH ROW EXECUTE FUNCTION ${notes}.assignment();

      CREATE FUNCTION ${notes}.claim() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
      BEGIN
        IF NEW.sender IS NULL OR EXISTS (
          SELECT 1 FROM ${own}.instances WHERE id = NEW.sender AND lost
        ) THEN
          INSERT INTO ${notes}.broken (what) VALUES (format(
            'row %s was claimed by %s, who may not', NEW.id, coalesce(NEW.sender::text, 'nobody')));
        END IF;
        IF EXISTS (
          SELECT 1 FROM ${own}.documents d
            WHERE d.id <> NEW.id AND d.state IN ('uploading', 'inDoubt')
              AND d.folder_id = NEW.folder_id AND d.sent_name = NEW.sent_name
              AND (SELECT archive_id FROM ${own}.mirrors WHERE id = d.mirror_id)
                = (SELECT archive_id FROM ${own}.mirrors WHERE id = NEW.mirror_id)
        ) THEN
          INSERT INTO ${notes}.broken (what) VALUES (format(
            'row %s was claimed while another one of its name is under way', NEW.id));
        END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER witness AFTER UPDATE ON ${own}.documents FOR EACH ROW
        WHEN (NEW.state = 'uploading' AND OLD.state <> 'uploading')
        EXECUTE FUNCTION ${notes}.claim();
    `;
  }
}
