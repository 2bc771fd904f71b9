/**
 * A rule for oxlint: what a user can read goes through `t` of `client-extension/src/l10n.ts`.
 *
 * It finds literals that read like words (several words, or one that begins with a capital letter), and any letters at a place that shows text, such as
 * `title`. What only a log or a program reads is known by where it stands. What is left is said at the line:
 * `oxlint-disable-next-line ullage/untranslated -- why nobody reads it`.
 */

/** Properties and attributes that show what is in them. */
const SHOWN = new Set(
  [
    "textContent",
    "title",
    "label",
    "placeholder",
    "ariaLabel",
    "aria-label",
    "aria-description",
    "aria-roledescription",
    "alt",
    "tooltip",
  ].concat(["detail", "description", "placeHolder", "prompt", "word", "words", "meaning", "summary"]),
);
/** Properties that hold names for programs. */
const NAMES = new Set([
  "className",
  "kind",
  "type",
  "role",
  "icon",
  "command",
  "id",
  "key",
  "method",
  "origin",
  "scheme",
  "href",
  "src",
  "dir",
  "name",
]);
/** Functions whose arguments nobody reads on the screen. */
const UNSEEN =
  /^(console|log|logger|channel|output)\b|\.(log|info|warn|error|debug|trace)$|(^|\.)(querySelector(All)?|closest|matches|getElementById|createElement|addEventListener|removeEventListener|executeCommand|registerCommand|getConfiguration|getExtension|startsWith|endsWith|includes|indexOf|split|replace|replaceAll|localeCompare|add|remove|toggle|contains|get|has|set|update|affectsConfiguration|RegExp|icon|joinPath|postMessage|test|exec)$/;

/** @param {string} text */
const readsLikeWords = (text) =>
  /[A-Za-z]{2,}[,.:;!?…]? +[A-Za-z({“"'`]/.test(text) ||
  /^[A-Z][a-z]+[.…:]?$/.test(text.trim()) ||
  /\{\}[,;:]? [A-Za-z]{1,}|[a-z]{2,}:? \{\}/.test(text);
/** Names and keys are the same in every language. */
const SAME =
  /^(Ullage|Esc|Enter|Tab|Escape|Anthropic|Ollama|LM Studio|vLLM|LiteLLM|Markdown|JSON Lines|Cmd|Backspace|Delete|Home|End|Arrow\w+|Page\w+)$/;
/** @param {string} text */
const hasLetters = (text) => /[A-Za-z]{2,}/.test(text.replaceAll("{}", "").replace(/\$\([\w~-]+\)|https?:\S+/g, "")) && !SAME.test(text);

/** @param {any} node @returns {string} */
function calleeOf(node) {
  if (node.type === "Identifier") return node.name;
  if (node.type === "MemberExpression" && !node.computed) return `${calleeOf(node.object)}.${node.property.name}`;
  if (node.type === "ThisExpression") return "this";
  if (node.type === "CallExpression") return `${calleeOf(node.callee)}()`;
  return "";
}

/** How a literal's value is used: "shown" at a place that shows it, "unseen" where nobody reads it, else "open". @param {any} node @returns {string} */
function useOf(node) {
  let child = node;
  for (let parent = node.parent; parent; child = parent, parent = parent.parent) {
    switch (parent.type) {
      case "ImportDeclaration":
      case "ExportNamedDeclaration":
      case "ExportAllDeclaration":
      case "ImportExpression":
      case "TSLiteralType":
      case "TSEnumMember":
      case "SwitchCase":
      case "TaggedTemplateExpression":
        return "unseen";
      case "BinaryExpression":
        if (parent.operator !== "+") return "unseen";
        break;
      case "MemberExpression":
        if (parent.property === child) return "unseen";
        break; // a method of the text: what it gives is used further out
      case "Property": {
        if (parent.key === child) return "unseen";
        const name = parent.key.type === "Identifier" ? parent.key.name : String(parent.key.value);
        return SHOWN.has(name) ? "shown" : NAMES.has(name) ? "unseen" : "open";
      }
      case "AssignmentExpression": {
        const name = parent.left.type === "MemberExpression" && !parent.left.computed ? parent.left.property.name : "";
        return SHOWN.has(name) ? "shown" : NAMES.has(name) ? "unseen" : "open";
      }
      case "CallExpression":
      case "NewExpression": {
        if (parent.callee === child) break;
        const callee = calleeOf(parent.callee);
        if (["t", "plural", "known"].includes(callee)) return "unseen";
        if (callee.endsWith("setAttribute")) {
          if (parent.arguments[0] === child) return "unseen";
          return SHOWN.has(parent.arguments[0].value) ? "shown" : "open";
        }
        return UNSEEN.test(callee.replace(/^this\./, "")) ? "unseen" : "open";
      }
      case "TemplateLiteral":
        if (parent.quasis[parent.expressions.indexOf(child)]?.value.raw.endsWith("$(")) return "unseen"; // the name of an icon
        break;
      case "ConditionalExpression":
        if (parent.test === child) return "open";
        break;
      case "ArrowFunctionExpression":
      case "LogicalExpression":
      case "TSAsExpression":
      case "TSSatisfiesExpression":
      case "ArrayExpression":
      case "AwaitExpression":
        break;
      default:
        return "open";
    }
  }
  return "open";
}

/** @param {any} node */
const isLiteral = (node) => node.type === "Literal" && typeof node.value === "string";

/** @param {any} context */
function create(context) {
  /** @param {any} node @param {string} text */
  const look = (node, text) => {
    if (!hasLetters(text) || text.includes("codicon")) return;
    const use = useOf(node);
    if (use === "unseen" || (use === "open" && !readsLikeWords(text))) return;
    context.report({
      node,
      message: `Put a text that users read through t() of src/l10n.ts, and run \`npm run l10n\`: ${text.slice(0, 60)}`,
    });
  };
  return {
    /** What is collected are literals. @param {any} node */
    CallExpression: (node) => {
      const [message] = node.arguments;
      if (node.callee.type === "Identifier" && node.callee.name === "t" && message !== undefined && !isLiteral(message)) {
        context.report({ node, message: "t() takes a literal: only these are collected for translation" });
      }
    },
    /** @param {any} node */
    Literal: (node) => typeof node.value === "string" && look(node, node.value),
    /** @param {any} node */
    TemplateLiteral: (node) => look(node, node.quasis.map((/** @type {any} */ quasi) => quasi.value.cooked).join("{}")),
  };
}

export default { meta: { name: "ullage" }, rules: { untranslated: { create } } };
