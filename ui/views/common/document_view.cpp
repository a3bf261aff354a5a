// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/document_view.h"

#include "ui/views/common/text_tools.h"

namespace spanscope::ui {

DocumentView::~DocumentView() {
  // The editors are destroyed after this, and lose the focus as they go: nothing may come back here then.
  qDeleteAll(findChildren<DocumentUndo*>());
  for (QWidget* child : findChildren<QWidget*>()) child->disconnect(this);
}

void DocumentView::setInput(const ViewInput& input) {
  const bool isNew = !m_input || m_input->selection != input.selection || m_input->theme != input.theme ||
                     m_input->tokenizer != input.tokenizer ||
                     (m_model == nullptr && m_input->document != input.document);
  m_input = input;
  if (isNew) markStale();
}

void DocumentView::setModel(document::DocumentModel* model) {
  if (model == m_model) return;
  if (m_model != nullptr) m_model->disconnect(this);
  m_model = model;
  if (m_model != nullptr) connect(m_model, &document::DocumentModel::changed, this, &DocumentView::markStale);
  modelChanged();
  markStale();
}

const document::Document& DocumentView::document() const {
  static const document::Document empty;
  if (m_model != nullptr) return m_model->document();
  return m_input && m_input->document ? *m_input->document : empty;
}

void DocumentView::wantNode(document::NodeId node) {
  Selection wanted;
  wanted.nodes = {node};
  Q_EMIT selectionWanted(wanted);
}

void DocumentView::markStale() {
  m_isStale = true;
  if (!isVisible()) return;
  m_isStale = false;
  refresh();
}

void DocumentView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  if (m_isStale) markStale();
}

}  // namespace spanscope::ui
