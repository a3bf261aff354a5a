// SPDX-License-Identifier: GPL-3.0-or-later
// Base classes of all views. A hidden view only stores its input. A visible view refreshes when a part of the
// input that the view reads has changed. If a refresh takes long, the view refreshes less often.
#pragma once

#include "ui/views/view.h"

#include <QFlags>
#include <QPointer>
#include <QTimer>

#include <cstddef>
#include <memory>
#include <optional>

class QHBoxLayout;

namespace spanscope::ui {

/// The parts of the input that a view reads. Every view also reads selection, theme, tokenizer and keys.
enum class InputPart {
  Document = 1,    ///< the document in the input
  Model = 2,       ///< the document as it is edited: from the model if there is one
  Trace = 4,       ///< up to the position
  WholeTrace = 8,  ///< events after the position too; a live trace grows without a new pointer
  Prediction = 16,
  Replay = 32,    ///< attention that is recomputed after a run
  Measured = 64,  ///< jobs that measure, and their estimates
};
Q_DECLARE_FLAGS(InputParts, InputPart)
Q_DECLARE_OPERATORS_FOR_FLAGS(InputParts)

/// The parts that views of runs read.
inline constexpr InputParts kRunParts = InputPart::Document | InputPart::Trace;

enum class Pace {
  EveryInput,  ///< shows every input immediately
  MayWait,     ///< may show an input late if the last refresh took long
};

class InputView : public View {
  Q_OBJECT
 public:
  InputView(InputParts parts, Pace pace, QWidget* parent);
  ~InputView() override;

  void setInput(const ViewInput& input) final;
  void setModel(DocumentModel* model) override;
  QWidget* takeTitleControls() override { return m_titleControls.release(); }

 protected:
  /// Computes the content of the view, and repaints it if it has changed. Called only if there is an input,
  /// unless the view reads the model. Called only while the view is visible, except by ensureFresh().
  virtual void refresh() = 0;
  /// Called when another document is open, or none. If the view reads the model, refresh() follows.
  virtual void modelChanged() {}

  /// The current input; nullptr: none yet.
  const ViewInput* input() const { return m_input ? &*m_input : nullptr; }
  /// The model of the open document; nullptr: no editable document is open.
  DocumentModel* model() const { return m_model; }
  /// The newest document: from the model if there is one, else from the input.
  const document::Document& document() const;
  std::shared_ptr<const text::Tokenizer> tokenizer() const { return m_input ? m_input->tokenizer : nullptr; }
  std::shared_ptr<TokenCounts> tokenCounts() const { return m_input ? m_input->tokenCounts : nullptr; }
  Selection selection() const { return m_input ? m_input->selection : Selection(); }
  Theme theme() const { return m_input ? m_input->theme : Theme(); }

  /// A selection that shows this request and selects its node, if the document has the node. The selection
  /// has no block and no token.
  Selection selectionOf(RunId run, RequestId request, const NodePath& node) const;
  /// Requests that the window selects only this node.
  void wantNode(document::NodeId node);

  /// Makes the row for the small controls in the dock's title bar. Constructors of views call it. The row's
  /// widget is the parent of the controls, and belongs to this view until takeTitleControls().
  QHBoxLayout* titleRow();

  /// Calls refresh() if the input has changed since the last call. Exports call this function, because the
  /// view may never have been visible.
  void ensureFresh();

  void showEvent(QShowEvent* event) override;

 private:
  bool isShown(const ViewInput& input) const;
  void markStale();
  void refreshNow();

  const InputParts m_parts;
  const Pace m_pace;
  std::optional<ViewInput> m_input;
  QPointer<DocumentModel> m_model;
  std::size_t m_traceSize = 0;
  bool m_isStale = true;
  QTimer m_later;
  std::unique_ptr<QWidget> m_titleControls;
};

// A view of runs. If there are no runs, a sentence in the middle describes the future content.

class RunView : public InputView {
  Q_OBJECT
 public:
  /// `more`: the parts of the input that the view reads besides documents and traces.
  explicit RunView(QWidget* parent, InputParts more = {}, Pace pace = Pace::MayWait)
      : InputView(kRunParts | more, pace, parent) {}

 protected:
  /// The sentence for an empty view; empty: the view has content.
  virtual QString emptyText() const = 0;
  /// If emptyText() is not empty, paints it into a rectangle of this size and returns true.
  bool paintIfEmpty(QPainter& painter, const QSize& size) const;

  void paintEvent(QPaintEvent* event) override;
};

}  // namespace spanscope::ui
