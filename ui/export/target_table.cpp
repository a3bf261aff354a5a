// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/export/target_table.h"

#include "ui/words/tr.h"

namespace spanscope::ui {

TargetInfo targetInfo(ExportTarget target) {
  switch (target) {
    case ExportTarget::Json:
      return {target, tr("SPNL JSON"),
              tr("The query as IBM/spnl reads and writes it: the form to exchange. At its last stage, the "
                 "calls that it sends to a span server."),
              QStringLiteral(".json"), true};
    case ExportTarget::Yaml:
      return {target, tr("SPNL YAML"), tr("The same query as YAML, which IBM/spnl reads too."),
              QStringLiteral(".yaml"), false};
    case ExportTarget::Lisp:
      return {target, tr("SPNL Lisp"), tr("The same query as a form of IBM/spnl's macro, for Rust programs."),
              QStringLiteral(".lisp"), false};
    case ExportTarget::Curl:
      return {target, tr("curl line"),
              tr("A line for the shell that sends the query to vLLM with the span patch, as one request."),
              QStringLiteral(".sh"), false};
    case ExportTarget::Python:
      return {target, tr("Python program"),
              tr("A program that sends the query to vLLM with the span patch, as one request."),
              QStringLiteral(".py"), false};
    case ExportTarget::Chat:
      return {target, tr("Chat messages"),
              tr("For servers that know no spans: chat completions as OpenAI's API takes them. Several "
                 "requests become a batch file, a line each."),
              QStringLiteral(".json"), true};
    case ExportTarget::Tokens:
      return {target, tr("Prompt tokens"),
              tr("The ids that a span server is sent: the template's text, padded to blocks, with a marker "
                 "where each span begins. A line is a block."),
              QStringLiteral(".json"), true};
  }
  return {};
}

}  // namespace spanscope::ui
