/** Loads the native part of the library: a user without rights may not read where it is installed. */
import Database from "better-sqlite3";

new Database(":memory:").close();
