/** What a user sees of a session: its items, the gauge and the model. Mirrors `server/ullage/lsp/protocol/items.py`; see PROTOCOL.md, Shapes. */

export type Optional<T> = T | null;

/** What a session does now. */
export type SessionState = "idle" | "running" | "compacting";

export type ToolKind = "read" | "edit" | "search" | "execute" | "think" | "fetch" | "other";

export type ToolStatus = "pending" | "awaiting_permission" | "awaiting_answer" | "running" | "completed" | "failed" | "cancelled";

export type CompactionStatus = "in_progress" | "completed" | "failed" | "cancelled" | "undone";

export type CompactionTrigger = "manual" | "threshold" | "idle" | "reactive" | "tool" | "upkeep" | "economy";

export type CompactionWay = "moves" | "api" | "model" | "program" | "note";

/** An image or a PDF that the model was shown. */
export interface ShownMedia {
  /** Of the file, as it was attached or read; empty if no file was read for it. */
  name: string;
  /** What it is, and how many tokens it takes. */
  words: string;
  /** Where the bytes lie that the model was shown, relative to the first workspace folder. */
  path: string;
}

/** A prompt of the user. */
export interface UserItem {
  kind: "user";
  id: string;
  at: number;
  text: string;
  attachments: string[];
  /** Waits for its turn. */
  queued: boolean;
  /** Those of the attachments that are images or PDFs. */
  media?: Optional<ShownMedia[]>;
  /** It joined the turn that ran, or waits for that: before all that wait for a turn of their own. */
  steering?: Optional<boolean>;
  /** What the turn cost that began with it; absent until it has ended. */
  turnCost?: Optional<TurnCost>;
}

/** What a turn took of the model. Tokens as the API reports them. */
export interface TurnCost {
  /** Calls that reported what they took, those for compactions too. */
  calls: number;
  /** Neither read from the cache nor written to it. */
  input: number;
  cacheRead: number;
  cacheWrite: number;
  output: number;
  /** Dollars; absent where no call had a price. */
  cost?: Optional<number>;
  /** Of `calls`, those without a known price: `cost` has nothing of them. */
  unpriced?: Optional<number>;
  /** Replies that were cut off: nobody knows what they cost. */
  unreported?: Optional<number>;
  /** Of `calls`, those for compactions, and what these cost, which is in `cost`, too. */
  compactions?: Optional<number>;
  compactionCost?: Optional<number>;
  /** Sub-agents that worked for it, and what these cost, which is in `cost`, too. Their calls and tokens are not counted here. */
  agents?: Optional<number>;
  agentCost?: Optional<number>;
}

/** What the model says to the user. */
export interface AssistantItem {
  kind: "assistant";
  id: string;
  at: number;
  /** Markdown. */
  text: string;
}

/** The model's reasoning, as far as the API shows it. */
export interface ThinkingItem {
  kind: "thinking";
  id: string;
  at: number;
  text: string;
  /** How long it took; absent while it lasts, and where the server did not see it. */
  seconds?: Optional<number>;
}

/** What is or would be changed in a file: the lines around it, before and after. */
export interface FileDiff {
  path: string;
  oldText: string;
  newText: string;
}

/** One answer to an approval. */
export interface PermissionOption {
  optionId: string;
  name: string;
  kind: "allow_once" | "allow_always" | "reject_once";
}

/** One answer that the agent offers, and what it means. */
export interface QuestionOption {
  optionId: string;
  label: string;
  description: string;
}

/** What the agent asks the user. All texts are the model's. */
export interface Question {
  /** What it is about, in a word or two. */
  header: string;
  question: string;
  options: QuestionOption[];
  /** Several options may be chosen. */
  multiSelect?: Optional<boolean>;
}

/** What the user answered to one question: the labels of what they chose, and their own words. */
export interface Answer {
  question: string;
  chosen: string[];
  text?: Optional<string>;
}

/** `path` is absolute, `line` counts from 1. */
export interface Location {
  path: string;
  line?: Optional<number>;
}

/** A sub-agent that is or was at work for a call: tokens of its own context, and dollars. */
export interface AgentRun {
  /** Of its own log, which can be opened and read. */
  sessionId: string;
  name: string;
  used: number;
  threshold: number;
  cost?: Optional<number>;
  /** What it does now, in words; absent where it does nothing any more. */
  doing?: Optional<string>;
}

/** A call of a tool, from its first streamed word to its result. */
export interface ToolCallItem {
  kind: "toolCall";
  id: string;
  at: number;
  name: string;
  title: string;
  toolKind: ToolKind;
  status: ToolStatus;
  /** JSON text; not whole while it streams in. */
  input: string;
  output: string;
  diff?: Optional<FileDiff>;
  /** Path of the whole output where `output` was clipped. */
  fullOutput?: Optional<string>;
  /** Not empty while the call waits for an approval. */
  permission?: Optional<PermissionOption[]>;
  permissionId?: Optional<string>;
  permissionReason?: Optional<string>;
  /** What the model is shown with the output. */
  media?: Optional<ShownMedia[]>;
  /** Why it failed, where that is no fault of the tool. */
  failure?: Optional<"refused" | "not_found">;
  /** How long it ran, as far as the server saw it. */
  seconds?: Optional<number>;
  /** The files that it is at work in, so that an editor can follow along. */
  locations?: Optional<Location[]>;
  /** While it waits for an approval: the absolute path of the document that it is about, which the user may edit. */
  document?: Optional<string>;
  /** While it waits for an approval: what is asked, part by part. */
  asked?: Optional<AskedParts>;
  /** While it waits for the user's answers: what is asked, and the id of these very questions. */
  questions?: Optional<Question[]>;
  questionId?: Optional<string>;
  /** What the user answered. */
  answers?: Optional<Answer[]>;
  /** The sub-agent that is or was at work for it. */
  agent?: Optional<AgentRun>;
  /** Dollars that the call itself cost, beside the conversation. */
  cost?: Optional<number>;
  /** The id of the command that went on after it. */
  goesOn?: Optional<string>;
}

/** One part of a call, and why it is asked about or not, in words for the user. */
export interface AskedPart {
  text: string;
  standing: "harmless" | "rule" | "confined" | "asked";
  why: string;
}

/** A rule that would cover a part of the call. */
export interface RuleProposal {
  action: "command" | "edit" | "host" | "mcp" | "search";
  pattern: string;
}

/** The proposed text of a file as a document that the user may change before they accept it. Paths are absolute. */
export interface ProposedText {
  document: string;
  /** Of the file. */
  path: string;
  isNew?: Optional<boolean>;
}

/** What a call is asked about. */
export interface AskedParts {
  action: "edit" | "command" | "host" | "outside" | "plan" | "mcp" | "agent" | "search";
  parts: AskedPart[];
  /** Where it would happen, by the name of the workspace folder; absolute where it is outside. */
  folder?: Optional<string>;
  /** Whether that is outside of the workspace folders, as a worktree is. */
  outside?: Optional<boolean>;
  proposals?: Optional<RuleProposal[]>;
  proposed?: Optional<ProposedText>;
}

/** A file that was read again after a summary. */
export interface RestoredFile {
  path: string;
  note: string;
  /** The model is only told its name; `note` says why. */
  notRead?: Optional<boolean>;
}

/** What the agent got again from its tools after a compaction that had taken it out of view. */
export interface FetchedAgain {
  /** In which it stands, as far as that is known; the one with the most of it first. */
  files: string[];
  tokens: number;
  /** Dollars. */
  cost?: Optional<number>;
}

/** How many things were used, and how many of these were in view. */
export interface Held {
  inView: number;
  used: number;
}

/** What some of the newest messages used of what stood before them, and how much of that a compaction leaves in view without them. */
export interface Checked {
  messages: number;
  /** They came since it was planned; else they are those that it keeps. */
  ahead: boolean;
  paths: Held;
  names: Held;
  hashes: Held;
  /** Of text that came from tools again. */
  characters: Held;
  /** Paths, names and hashes that were put into the summary for that. They count as in view. */
  added: number;
}

/** A compaction, from its beginning on. Counts are of messages. */
export interface CompactionItem {
  kind: "compaction";
  id: string;
  at: number;
  status: CompactionStatus;
  trigger: CompactionTrigger;
  way?: Optional<CompactionWay>;
  tokensBefore: number;
  tokensAfter?: Optional<number>;
  summary: string;
  restored: RestoredFile[];
  /** Tool results that became a placeholder. */
  cleared: number;
  /** Messages cut from the middle. */
  snipped: number;
  /** Messages that went into the summary. */
  summarised: number;
  focus: string;
  /** Ways that did not work, and why. */
  skipped: string[];
  cost?: Optional<number>;
  /** Whose way it was: a policy's name, or `user` where the user took something out by hand. */
  policy?: Optional<string>;
  /** Files that the user took out with it. */
  excludedFiles?: Optional<string[]>;
  /** About how many dollars one that was made before the threshold was to save. */
  saves?: Optional<number>;
  fetchedAgain?: Optional<FetchedAgain>;
  checked?: Optional<Checked>;
  /** Files that the model is told of by name beside those that are read again, a line a folder. */
  nearby?: Optional<string[]>;
  error: string;
}

/** Something that the program tells the user, and the button beside it. */
export interface NoticeItem {
  kind: "notice";
  id: string;
  at: number;
  level: "info" | "warning" | "error";
  text: string;
  action: "continue" | "set_key" | "settings" | "choose_model" | "hooks" | "none";
}

export type Item = UserItem | AssistantItem | ThinkingItem | ToolCallItem | CompactionItem | NoticeItem;

/** One task of the agent's list. */
export interface PlanEntry {
  content: string;
  status: "pending" | "in_progress" | "completed";
}

/** A call of the model that failed and is made again. */
export interface RetryInfo {
  attempt: number;
  /** When the call is made again. */
  at: number;
  reason: string;
}

/** One part of what fills the context. */
export interface GaugeCategory {
  name: string;
  tokens: number;
}

/** A compaction before the threshold that would save about that many dollars. */
export interface EarlySaving {
  /** The earliest: with the next prompt, or once nobody asks for some minutes, and with the prompt after that. */
  when: "prompt" | "pause";
  dollars: number;
  postponed?: Optional<"turn" | "session">;
}

/** When the next compaction comes by itself: before a call that holds `at` tokens, as `why` says; never without `at`. */
export interface NextCompaction {
  why: "threshold" | "window" | "undone" | "grown" | "unanswered" | "failed" | "off";
  at?: Optional<number>;
  /** A pause in typing is enough, since the next turn would usually reach it. */
  whileEditing?: Optional<boolean>;
  saving?: Optional<EarlySaving>;
}

/** How full the context is. */
export interface Gauge {
  /** The very number that the trigger compares with `threshold`. */
  used: number;
  /** Where it compacts: 100 %. */
  threshold: number;
  /** The model's window. */
  size: number;
  /** Whether more than a hundredth of `used` is only estimated. */
  estimated: boolean;
  /** Of `used`, the tokens that no reply has reported and the endpoint has not counted. */
  estimatedTokens?: Optional<number>;
  level: "normal" | "warning" | "error";
  /** They add up to all that the context holds: to `used`, where that is measured by usage. */
  categories: GaugeCategory[];
  /** 0 to 1. */
  cacheHitRate?: Optional<number>;
  cost?: Optional<number>;
  /** What a compaction now would free. */
  frees: number;
  freesCost?: Optional<number>;
  /** Dollars more for the next request if nothing of it is read from the prompt cache, as after another effort. */
  anewCost?: Optional<number>;
  next: NextCompaction;
  /** The name of the policy in force. */
  policy: string;
  /** What `used` is measured by. */
  measure: "usage" | "messages" | "characters / 4";
}

/** How much work a model puts into a reply, by the API's own words. */
export type Effort = "low" | "medium" | "high" | "xhigh" | "max";

/** The model of the session. */
export interface ModelInfo {
  name: string;
  displayName: string;
  practice: boolean;
  limitsSource: string;
  /** What it can be asked for, least first; absent where it takes none. */
  efforts?: Optional<Effort[]>;
  /** What it is asked for; absent where that is left to it. */
  effort?: Optional<Effort>;
}
