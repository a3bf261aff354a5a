// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/example_table.h"

#include <QCoreApplication>

namespace spanscope::ui {
namespace {

Example make(const char* file, const char* title, const char* description) {
  return {.file = QString::fromLatin1(file),
          .title = QCoreApplication::translate("examples", title),
          .description = QCoreApplication::translate("examples", description)};
}

}  // namespace

const std::vector<Example>& exampleTable() {
  static const std::vector<Example> table{
      make("chat.json", QT_TRANSLATE_NOOP("examples", "Chat"),
           QT_TRANSLATE_NOOP("examples", "Messages in order, the way every chat is sent")),
      make("rag.json", QT_TRANSLATE_NOOP("examples", "RAG"),
           QT_TRANSLATE_NOOP("examples", "Three documents under plus, and a question about one of them")),
      make("rag-swapped.json", QT_TRANSLATE_NOOP("examples", "RAG, documents swapped"),
           QT_TRANSLATE_NOOP("examples",
                             "The same with two documents swapped: run it after RAG and see them relocated")),
      make("needle.json", QT_TRANSLATE_NOOP("examples", "Needle among documents"),
           QT_TRANSLATE_NOOP("examples",
                             "One number to find among four documents: see where the attention goes")),
      make("judge-2.json", QT_TRANSLATE_NOOP("examples", "Two-way judge / generator"),
           QT_TRANSLATE_NOOP("examples", "Two e-mails are written, then a judge picks the better one")),
      make("judge-4.json", QT_TRANSLATE_NOOP("examples", "Four-way judge / generator"),
           QT_TRANSLATE_NOOP("examples",
                             "Four candidates of one prompt: the judge reuses what they computed")),
      make("list-and-combine.json", QT_TRANSLATE_NOOP("examples", "List and combine"),
           QT_TRANSLATE_NOOP("examples", "Two lists made from two documents each, then joined into one")),
  };
  return table;
}

}  // namespace spanscope::ui
