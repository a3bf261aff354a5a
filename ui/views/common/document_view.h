// SPDX-License-Identifier: GPL-3.0-or-later
// What the views of the document have in common: they follow the open document, the selection, the tokenizer
// and the theme, and let the trace pass by.
#pragma once

#include "ui/views/view.h"

#include <QPointer>

#include <optional>

namespace spanscope::ui {

class DocumentView : public View {
  Q_OBJECT
 public:
  using View::View;
  ~DocumentView() override;

  void setInput(const ViewInput& input) final;
  void setModel(document::DocumentModel* model) final;

 protected:
  /// Shows the present document(), selection() and theme(). Called while the view is visible only.
  virtual void refresh() = 0;
  /// Another document is open, or none; refresh() follows.
  virtual void modelChanged() {}

  document::DocumentModel* model() const { return m_model; }
  /// The newest value: of the model where there is one.
  const document::Document& document() const;
  std::shared_ptr<const text::Tokenizer> tokenizer() const { return m_input ? m_input->tokenizer : nullptr; }
  Selection selection() const { return m_input ? m_input->selection : Selection(); }
  Theme theme() const { return m_input ? m_input->theme : Theme(); }
  /// Asks for this node to be selected, and nothing else.
  void wantNode(document::NodeId node);
  /// refresh() now, or when the view is shown.
  void markStale();

  void showEvent(QShowEvent* event) override;

 private:
  std::optional<ViewInput> m_input;
  QPointer<document::DocumentModel> m_model;
  bool m_isStale = true;
};

}  // namespace spanscope::ui
