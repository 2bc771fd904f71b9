/** Answers `ullage/editor/diagnostics`: what the editor's language servers say. */

import * as vscode from "vscode";
import type { Problem, ServerRequests } from "./protocol";

type Params = ServerRequests["ullage/editor/diagnostics"][0];
type Result = ServerRequests["ullage/editor/diagnostics"][1];

const SEVERITIES: Record<vscode.DiagnosticSeverity, Problem["severity"]> = {
  [vscode.DiagnosticSeverity.Error]: "error",
  [vscode.DiagnosticSeverity.Warning]: "warning",
  [vscode.DiagnosticSeverity.Information]: "information",
  [vscode.DiagnosticSeverity.Hint]: "hint",
};

/** The problems of one file, or of all. */
export function answerDiagnostics(params: Params): Result {
  if (params.uri) {
    const uri = vscode.Uri.parse(params.uri);
    return { problems: vscode.languages.getDiagnostics(uri).map((diagnostic) => toProblem(uri, diagnostic)) };
  }
  const all = vscode.languages.getDiagnostics();
  return { problems: all.flatMap(([uri, diagnostics]) => diagnostics.map((diagnostic) => toProblem(uri, diagnostic))) };
}

function toProblem(uri: vscode.Uri, diagnostic: vscode.Diagnostic): Problem {
  return {
    uri: uri.toString(),
    line: diagnostic.range.start.line + 1,
    severity: SEVERITIES[diagnostic.severity],
    source: diagnostic.source ?? "",
    message: diagnostic.message,
  };
}
