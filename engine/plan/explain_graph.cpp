// SPDX-License-Identifier: GPL-3.0-or-later

#include "engine/base/counted.h"
#include "engine/plan/explain.h"
#include "engine/plan/outline.h"

#include <fmt/format.h>

namespace spanscope::plan {
namespace {

constexpr std::size_t kShownText = 40;

/// Escapes characters that would end or change a quoted string of the DOT language.
std::string dotText(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + "\"";
}

class GraphWriter {
 public:
  explicit GraphWriter(const Plan& plan) : m_plan(&plan) {}

  std::string write() {
    m_text = "digraph plan {\n  rankdir=LR;\n  node [shape=box, fontname=\"sans-serif\"];\n";
    for (std::size_t i = 0; i < m_plan->steps.size(); ++i) writeStep(i, m_plan->steps[i]);
    if (!m_plan->result.empty()) writeResult();
    return m_text + m_edges + "}\n";
  }

 private:
  void writeStep(std::size_t index, const Step& step) {
    const std::string title = fmt::format("step {}, ply {}: {}, copy {}", index, step.ply,
                                          step.node.empty() ? "the root" : step.node, step.copy);
    m_text += fmt::format("  subgraph cluster_{} {{\n    label={};\n", index, dotText(title));
    const std::string limit = step.maxTokens ? "at most " + counted(*step.maxTokens, "token") : "no limit";
    m_text += fmt::format(
        "    step{} [shape=ellipse, label={}];\n", index,
        dotText(fmt::format("generate\n{}\n{}, temperature {}", step.model, limit, step.temperature)));
    const std::string root = writePrompt(step.prompt);
    m_text += "  }\n";
    m_edges += fmt::format("  {} -> step{};\n", root, index);
  }

  /// Writes a prompt and returns the name of its node in the graph.
  std::string writePrompt(const PromptNode& node) {
    std::string name = fmt::format("p{}", m_nodes++);
    const auto put = [&](const std::string& label, const char* more) {
      m_text += fmt::format("    {} [label={}{}];\n", name, dotText(label), more);
    };
    if (const auto* message = std::get_if<PromptMessage>(&node.value)) {
      put(std::string(query::roleName(message->role)) + " " + quoted(message->text, kShownText), "");
    } else if (const auto* output = std::get_if<PromptOutput>(&node.value)) {
      put(fmt::format("reply of step {}", output->step), ", style=rounded");
      const char* style = output->form == OutputForm::Continuation ? "continues its prompt"
                          : output->form == OutputForm::Anew       ? "computed anew"
                                                                   : "reused";
      m_edges += fmt::format("  step{} -> {} [style=bold, label={}];\n", output->step, name, dotText(style));
    } else if (const auto* run = std::get_if<PromptRun>(&node.value)) {
      put(run->children.empty() ? "nothing" : "in order", ", shape=plaintext");
      writeChildren(name, run->children);
    } else {
      put("plus", ", shape=diamond");
      writeChildren(name, std::get<PromptPlus>(node.value).children);
    }
    return name;
  }

  void writeChildren(const std::string& parent, const std::vector<PromptNode>& children) {
    for (const PromptNode& child : children) {
      const std::string name = writePrompt(child);
      m_edges += fmt::format("  {} -> {} [dir=back];\n", parent, name);
    }
  }

  void writeResult() {
    m_text += "  result [shape=doublecircle, label=\"result\"];\n";
    for (const ResultItem& item : m_plan->result) {
      if (const auto* step = std::get_if<StepIndex>(&item.value)) {
        m_edges += fmt::format("  step{} -> result;\n", *step);
        continue;
      }
      const auto& message = std::get<PromptMessage>(item.value);
      const std::string name = fmt::format("p{}", m_nodes++);
      const std::string label =
          std::string(query::roleName(message.role)) + " " + quoted(message.text, kShownText);
      m_text += fmt::format("  {} [label={}];\n", name, dotText(label));
      m_edges += fmt::format("  {} -> result;\n", name);
    }
  }

  const Plan* m_plan;
  std::string m_text;
  std::string m_edges;
  std::size_t m_nodes = 0;
};

}  // namespace

std::string explainGraph(const Plan& plan) {
  return GraphWriter(plan).write();
}

}  // namespace spanscope::plan
