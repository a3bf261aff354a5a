// SPDX-License-Identifier: GPL-3.0-or-later
// A view is what one dock shows. It is a pure function of its input. What a person does in a view comes back
// as signals.
#pragma once

#include "ui/document/document_model.h"
#include "ui/session/selection.h"
#include "ui/session/view_input.h"

#include <QString>
#include <QWidget>

#include <functional>
#include <vector>

namespace spanscope::ui {

class View : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;

  /// Shows another input. It is called often, 60 times a second while a query runs. So a hidden view only
  /// keeps the input and computes when it is shown, and a view whose part of the input has not changed does
  /// nothing.
  virtual void setInput(const ViewInput& input) = 0;

  /// For views that edit: sets the document to change; nullptr: none is open. A view changes the document
  /// only through this model.
  virtual void setModel(DocumentModel* /*model*/) {}

  /// Small controls (combo boxes, legends) for the right of the dock's title bar; nullptr: none. The caller
  /// owns the returned widget.
  virtual QWidget* takeTitleControls() { return nullptr; }

  /// What the view shows, as comma-separated values with a header line; empty: there is nothing to export.
  virtual QString csv() const { return {}; }
  /// Paints everything that the view shows into a rectangle of this size (for PNG, SVG, PDF).
  virtual void paintTo(QPainter& painter, const QSize& size);

 Q_SIGNALS:
  void selectionWanted(const spanscope::ui::Selection& selection);
  /// The scrubber should go to this position (a number of events).
  void positionWanted(std::size_t position);
  /// The person asks for a command of the command table, e.g. with a link.
  void commandWanted(const QString& id);
  /// The second text of the title bar (counts) has changed.
  void summaryChanged(const QString& text);
};

/// One entry of the table of views. Settings, `--screenshot` and file names use `id`.
struct ViewInfo {
  QString id;
  QString title;
  QString help;  ///< one sentence: what the view shows
  std::function<View*(QWidget* parent)> make;
  /// What it shows: where a trace does not report one of these, the dock says so.
  std::vector<Fact> needs{};
};
/// All views, in the order of the menu.
const std::vector<ViewInfo>& viewTable();

}  // namespace spanscope::ui
