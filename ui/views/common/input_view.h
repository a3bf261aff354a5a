// SPDX-License-Identifier: GPL-3.0-or-later
// What all views have in common: they keep their input while they are hidden, compute when they are shown and
// something they read is another, and slow down by themselves where computing takes long.
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

/// What of the input a view reads besides selection, theme, tokenizer and keys, which all do.
enum class InputPart {
  Document = 1,    ///< as the input has it
  Model = 2,       ///< the document as it is edited: of the model where there is one
  Trace = 4,       ///< up to the position
  WholeTrace = 8,  ///< events behind the position as well; a live trace grows in place
  Forecast = 16,
  Replay = 32,  ///< attention that is computed again
  Benchmark = 64,
  Experiment = 128,
  Loads = 256,  ///< what loading took beside computing
};
Q_DECLARE_FLAGS(InputParts, InputPart)
Q_DECLARE_OPERATORS_FOR_FLAGS(InputParts)

/// What views of runs read.
inline constexpr InputParts kRunParts = InputPart::Document | InputPart::Trace;

enum class Pace {
  EveryInput,  ///< shows every input at once
  MayWait,     ///< may come later than its input where the last refresh took long
};

class InputView : public View {
  Q_OBJECT
 public:
  InputView(InputParts parts, Pace pace, QWidget* parent);
  ~InputView() override;

  void setInput(const ViewInput& input) final;
  void setModel(document::DocumentModel* model) override;
  QWidget* takeTitleControls() override { return m_titleControls.release(); }

 protected:
  /// Computes what is shown and repaints what differs. Called with an input, but where the view reads the
  /// model; while the view is visible only, but for ensureFresh().
  virtual void refresh() = 0;
  /// Another document is open, or none; where the view reads the model, refresh() follows.
  virtual void modelChanged() {}

  /// nullptr: none yet.
  const ViewInput* input() const { return m_input ? &*m_input : nullptr; }
  /// nullptr: no document is open that can be changed.
  document::DocumentModel* model() const { return m_model; }
  /// The newest value: of the model where there is one.
  const document::Document& document() const;
  std::shared_ptr<const text::Tokenizer> tokenizer() const { return m_input ? m_input->tokenizer : nullptr; }
  std::shared_ptr<TokenCounts> tokenCounts() const { return m_input ? m_input->tokenCounts : nullptr; }
  Selection selection() const { return m_input ? m_input->selection : Selection(); }
  Theme theme() const { return m_input ? m_input->theme : Theme(); }

  /// The present selection with this request shown.
  Selection selectionOf(RunId run, RequestId request, const NodePath& node) const;
  /// Asks for this node to be selected, and nothing else.
  void wantNode(document::NodeId node);

  /// The row of the small controls in the dock's title bar, which are this view's until they are taken. For
  /// constructors; its widget is the parent of what goes into it.
  QHBoxLayout* titleRow();

  /// Computes now if that is still to be done: before exporting a view that was never shown.
  void ensureFresh();

  void showEvent(QShowEvent* event) override;

 private:
  bool isShown(const ViewInput& input) const;
  void markStale();
  void refreshNow();

  const InputParts m_parts;
  const Pace m_pace;
  std::optional<ViewInput> m_input;
  QPointer<document::DocumentModel> m_model;
  std::size_t m_traceSize = 0;
  bool m_isStale = true;
  QTimer m_later;
  std::unique_ptr<QWidget> m_titleControls;
};

}  // namespace spanscope::ui
