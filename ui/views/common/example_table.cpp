// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/example_table.h"

#include "ui/words/tr.h"

namespace spanscope::ui {
namespace {

Example make(const char* file, const QString& title, const QString& description) {
  return {.file = QString::fromLatin1(file), .title = title, .description = description};
}

}  // namespace

const std::vector<Example>& exampleTable() {
  static const std::vector<Example> table{
      make("chat.json", tr("Chat"), tr("Messages in order, the way every chat is sent")),
      make("rag.json", tr("RAG"), tr("Three documents under plus, and a question about one of them")),
      make("rag-swapped.json", tr("RAG, swapped"),
           tr("The same with two documents swapped: run it after RAG and see them relocated")),
      make("retrieve.yaml", tr("RAG with retrieval"),
           tr("The fragments of a document that fit the question are its prompt")),
      make("parameters.span", tr("Parameters"),
           tr("Whose pet is asked for, and how long the answer may be, are filled in before it runs")),
      make("needle.json", tr("Needle"),
           tr("One number to find among four documents: see where the attention goes")),
      make("judge-2.json", tr("Two-way judge"),
           tr("Two e-mails are written, then a judge picks the better one")),
      make("judge-4.json", tr("Four-way judge"),
           tr("Four candidates of one prompt: the judge reuses what they computed")),
      make("judge-4-tree.yaml", tr("Judges in a tree"),
           tr("Judged two at a time, then the winners: no judge compares more than two")),
      make("list-and-combine.json", tr("List and combine"),
           tr("Two lists made from two documents each, then joined into one")),
  };
  return table;
}

}  // namespace spanscope::ui
