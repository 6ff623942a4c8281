// The grants of a tournament's desk: text that one phone redeems at each table it names.

const PREFIX = "dfg1.";

/** @param {string} text */
export const isGrant = (text) => text.startsWith(PREFIX);

/**
 * What a grant says: id, name, role, tables; null for what is none. The signature is checked by whoever takes it.
 *
 * @param {string} text
 * @returns {?{ id: string, name: string, role: string, tables: string[] }}
 */
export function readGrant(text) {
  try {
    const content = text.slice(PREFIX.length).split(".")[0].replace(/-/g, "+").replace(/_/g, "/");
    const { id, name, role, tables } = JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(content), (letter) => letter.codePointAt(0) ?? 0)));
    return { id, name, role, tables: tables ?? [] };
  } catch {
    return null;
  }
}
