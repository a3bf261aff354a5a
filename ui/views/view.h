// SPDX-License-Identifier: GPL-3.0-or-later
// A view: what one dock shows. A pure function of its input; what the person does in it comes back as
// signals.
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

  /// Shows another input. Called often (60 times a second while a query runs): a view that is hidden keeps
  /// the input and computes when it is shown; one whose part of the input has not changed does nothing.
  virtual void setInput(const ViewInput& input) = 0;

  /// For views that edit: the document to change; nullptr: none is open. Changes go through it only.
  virtual void setModel(document::DocumentModel* /*model*/) {}

  /// Small controls (combo boxes, legends) for the right of the dock's title bar; nullptr: none. Owned by the
  /// caller once taken.
  virtual QWidget* takeTitleControls() { return nullptr; }

  /// What it shows as comma-separated values, header line first; empty: nothing to export.
  virtual QString csv() const { return {}; }
  /// Paints what it shows, whole, into a rectangle of this size (for PNG, SVG, PDF).
  virtual void paintTo(QPainter& painter, const QSize& size);

 Q_SIGNALS:
  void selectionWanted(const spanscope::ui::Selection& selection);
  /// The scrubber should go there (number of events).
  void positionWanted(std::size_t position);
  /// A command of the command table is asked for, e.g. by a link.
  void commandWanted(const QString& id);
  /// The title bar's second text (counts) has changed.
  void summaryChanged(const QString& text);
};

/// One line a view. `id` is used in settings, `--screenshot` and file names.
struct ViewInfo {
  QString id;
  QString title;
  QString help;  ///< one sentence: what it shows
  std::function<View*(QWidget* parent)> make;
};
/// All views of the trace and the document, in the order of the menu.
const std::vector<ViewInfo>& viewTable();

}  // namespace spanscope::ui
