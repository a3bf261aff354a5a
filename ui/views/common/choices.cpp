// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/choices.h"

#include "ui/words/tr.h"

#include <QFileDialog>
#include <QHBoxLayout>

namespace spanscope::ui {

namespace {

Example make(const char* file, const QString& title, const QString& description) {
  return {.file = QString::fromLatin1(file), .title = title, .description = description};
}

}  // namespace

const std::vector<Example>& exampleTable() {
  static const std::vector<Example> table{
      make("chat.json", tr("Chat"), tr("Messages in order, as in every chat")),
      make("rag.json", tr("RAG"), tr("Three documents under plus, and a question about one of them")),
      make("rag-swapped.json", tr("RAG, swapped"),
           tr("RAG with two documents swapped: run this example after RAG to see relocated hits")),
      make("retrieve.yaml", tr("RAG with retrieval"),
           tr("The prompt has the passages of a document that match the question")),
      make("parameters.span", tr("Parameters"),
           tr("Before the run, you enter a name and the max tokens of the answer")),
      make("needle.json", tr("Needle"),
           tr("One number to find among four documents: see where the attention goes")),
      make("judge-2.json", tr("Two-way judge"),
           tr("Two steps write emails, then a judge chooses the better one")),
      make("judge-4.json", tr("Four-way judge"),
           tr("Four candidates of one prompt: the judge reuses the blocks of all candidates")),
      make("judge-4-tree.yaml", tr("Judges in a tree"),
           tr("Judges compare two candidates, then the winners")),
      make("list-and-combine.json", tr("List and combine"),
           tr("Two lists from two documents each, then combined")),
  };
  return table;
}

QString askForModelFile(QWidget* parent) {
  return QFileDialog::getOpenFileName(parent, tr("A model in one file"), {},
                                      tr("Models (*.gguf);;All files (*)"));
}

QString askForModelFolder(QWidget* parent) {
  return QFileDialog::getExistingDirectory(parent, tr("Folder of a checkpoint"));
}

ScopeBox::ScopeBox(QHBoxLayout* row) : QComboBox(row->parentWidget()) {
  setAccessibleName(tr("Runs to show"));
  setToolTip(tr("Show runs of this query, or of all open queries"));
  addItem(tr("This query"), static_cast<int>(RunScope::Document));
  addItem(tr("All queries"), static_cast<int>(RunScope::All));
  setSizeAdjustPolicy(QComboBox::AdjustToContents);
  row->addWidget(this);
  connect(this, &QComboBox::currentIndexChanged, this, &ScopeBox::changed);
}

RunScope ScopeBox::scope() const {
  return static_cast<RunScope>(currentData().toInt());
}

void ScopeBox::setOthers(std::size_t others) {
  // A choice of all documents must stay visible, so that it can be undone.
  setVisible(others > 0 || scope() == RunScope::All);
}

}  // namespace spanscope::ui
