// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/document/document_model.h"

#include <QFileInfo>
#include <QUndoCommand>

#include <utility>

namespace spanscope::ui {

/// Two whole values: nodes that did not change are shared between them.
class ChangeCommand final : public QUndoCommand {
 public:
  ChangeCommand(DocumentModel& model, const QString& name, std::shared_ptr<const document::Document> after,
                QString key)
      : QUndoCommand(name),
        m_model(model),
        m_before(model.snapshot()),
        m_after(std::move(after)),
        m_key(std::move(key)) {}

  void undo() override {
    // What comes next is not merged into a command from before.
    m_model.endMerge();
    m_model.replay(m_before);
  }
  void redo() override {
    // The stack calls this as it takes the command, when the model has its value already.
    if (m_model.snapshot() != m_after) m_model.replay(m_after);
  }

  int id() const override { return m_key.isEmpty() ? -1 : 1; }
  bool mergeWith(const QUndoCommand* other) override {
    const auto* next = dynamic_cast<const ChangeCommand*>(other);
    if (next == nullptr || next->m_key != m_key) return false;
    m_after = next->m_after;
    setObsolete(*m_after == *m_before);
    return true;
  }

 private:
  DocumentModel& m_model;
  std::shared_ptr<const document::Document> m_before;
  std::shared_ptr<const document::Document> m_after;
  QString m_key;
};

DocumentModel::DocumentModel(document::Document document, QObject* parent)
    : QObject(parent), m_document(std::make_shared<const document::Document>(std::move(document))) {
  connect(&m_undo, &QUndoStack::cleanChanged, this, &DocumentModel::stateChanged);
}

DocumentModel::~DocumentModel() {
  m_undo.disconnect(this);
}

bool DocumentModel::change(const QString& name, const std::function<void(document::Document&)>& change,
                           const QString& mergeKey) {
  // Views that answer an undo with a change of their own would cut off what can be redone.
  if (m_replaying) return false;
  auto next = std::make_shared<document::Document>(*m_document);
  change(*next);
  if (*next == *m_document) return false;
  // A serial in the key ends a merge without a command of its own.
  const QString key =
      mergeKey.isEmpty() ? QString() : mergeKey + QLatin1Char('#') + QString::number(m_mergeSerial);
  // The command stands in the stack before anybody is told, so that changes which answer this one come after
  // it.
  auto* command = new ChangeCommand(*this, name, next, key);  // the stack owns it
  m_document = std::move(next);
  m_undo.push(command);
  Q_EMIT changed();
  return true;
}

void DocumentModel::endMerge() {
  ++m_mergeSerial;
}

void DocumentModel::setFilePath(const QString& path) {
  if (path == m_filePath) return;
  m_filePath = path;
  Q_EMIT stateChanged();
}

QString DocumentModel::title() const {
  if (!m_filePath.isEmpty()) return QFileInfo(m_filePath).fileName();
  return m_title.isEmpty() ? tr("Untitled") : m_title;
}

void DocumentModel::setTitle(const QString& title) {
  if (title == m_title) return;
  m_title = title;
  Q_EMIT stateChanged();
}

bool DocumentModel::isModified() const {
  return !m_undo.isClean();
}

void DocumentModel::markSaved() {
  endMerge();
  m_undo.setClean();
}

void DocumentModel::markUnsaved() {
  m_undo.resetClean();
}

void DocumentModel::replay(std::shared_ptr<const document::Document> document) {
  m_document = std::move(document);
  m_replaying = true;
  Q_EMIT changed();
  m_replaying = false;
}

}  // namespace spanscope::ui
