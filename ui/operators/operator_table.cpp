// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/operators/operator_table.h"

#include "engine/workbench/document/edits.h"
#include "ui/document/problems.h"
#include "ui/words/tr.h"

#include <algorithm>
#include <map>

namespace spanscope::ui {
namespace {

struct Texts {
  QString hint;
  QString help;
  QString promise = {};
};

std::map<std::string, Texts> makeTexts() {
  return {
      {"system", {tr("message"), tr("What the model is told about its task")}},
      {"user", {tr("message"), tr("What the person says, or a document")}},
      {"assistant", {tr("message"), tr("What the model said earlier")}},
      {"g", {tr("an answer"), tr("Generates an answer to its input")}},
      {"repeat", {tr("n answers"), tr("Generates several answers to the same input")}},
      {"plus",
       {tr("any order"),
        tr("Children that are independent of each other: each is stored and reused by itself"),
        tr("any order")}},
      {"cross",
       {tr("in order"), tr("Children that build on each other: each sees all before it"),
        tr("in this order")}},
      {"seq", {tr("in order"), tr("Children one after the other"), tr("in this order")}},
      {"par",
       {tr("at once"), tr("Children that may run at the same time, kept in order"), tr("side by side")}},
      {"map", {tr("per input"), tr("Generates one answer for each of its inputs")}},
      {"zip",
       {tr("interleave"), tr("Repeats the first input before every element of the second"),
        tr("first before each")}},
      {"augment", {tr("retrieve"), tr("Puts the fragments of a document that fit its input under a plus")}},
      {"ask", {tr("a question"), tr("Text to be asked of the person who runs the query")}},
      {"file", {tr("from disk"), tr("The text of a file, relative to the query's own file")}},
      {"print", {tr("console"), tr("Writes a message to the console and adds nothing to the prompt")}},
      {"monad", {tr("side effect"), tr("Runs its input and drops the output")}},
  };
}

}  // namespace

const std::vector<OperatorInfo>& operatorTable() {
  static const std::vector<OperatorInfo> table = [] {
    const std::map<std::string, Texts> texts = makeTexts();
    std::vector<OperatorInfo> entries;
    for (const std::string& name : document::operatorNames()) {
      const Texts& text = texts.at(name);
      entries.push_back({name, document::operatorLabel(name), text.hint, text.help, text.promise});
    }
    return entries;
  }();
  return table;
}

const OperatorInfo& operatorInfo(std::string_view name) {
  const std::vector<OperatorInfo>& table = operatorTable();
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&name](const OperatorInfo& info) { return info.name == name; });
  return found == table.end() ? table.front() : *found;
}

}  // namespace spanscope::ui
