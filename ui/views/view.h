// SPDX-License-Identifier: GPL-3.0-or-later
// Base class of views, and the table of views. A view is the content of one dock. A view depends only on its
// input, and reports user actions as signals.
#pragma once

#include "engine/jobs/job_call.h"
#include "ui/document/document_model.h"
#include "ui/session/moment.h"
#include "ui/session/selection.h"
#include "ui/session/view_input.h"

#include <QRect>
#include <QString>
#include <QWidget>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

class QWidget;

namespace spanscope::workbench {
struct TracedPrediction;
}

namespace spanscope::ui {

class View : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;

  /// Shows another input. While a query runs, this function is called 60 times a second. So a hidden view
  /// only stores the input, and refreshes when it becomes visible. A view does nothing if its part of the
  /// input is unchanged.
  virtual void setInput(const ViewInput& input) = 0;

  /// For views that edit: sets the document to change. nullptr: none is open. A view changes the document
  /// only through this model.
  virtual void setModel(DocumentModel* /*model*/) {}

  /// Small controls (combo boxes, legends) for the right side of the dock's title bar; nullptr: none. The
  /// caller owns the returned widget.
  virtual QWidget* takeTitleControls() { return nullptr; }

  /// For views with their own motion: `allowed`: whether motion is allowed.
  virtual void setMotion(std::function<bool()> /*allowed*/) {}

  /// Whether the view can perform this command of its ViewInfo now. The command has no argument.
  virtual bool canPerform(const QString& /*command*/) const { return false; }
  /// Performs the command. `command` can also be one that shows this view, with an argument:
  /// "run.experiment:rag". The view then shows the item that the argument names. Throws Failure if there is
  /// no such item.
  virtual void perform(const QString& /*command*/) {}

  /// The content of the view as comma-separated values with a header line; empty: nothing to export.
  virtual QString csv() const { return {}; }
  /// Paints everything that the view shows into a rectangle of this size (for PNG, SVG, PDF).
  virtual void paintTo(QPainter& painter, const QSize& size);

 Q_SIGNALS:
  void selectionWanted(const spanscope::ui::Selection& selection);
  /// The scrubber should go to this position (a number of events).
  void positionWanted(std::size_t position);
  /// The user requests a command of the command table, e.g. with a link.
  void commandWanted(const QString& id);
  /// The second text of the title bar (counts) has changed.
  void summaryChanged(const QString& text);
  /// canPerform() has changed.
  void commandsChanged();
  /// The engine should do this job.
  void jobWanted(const spanscope::jobs::JobCall& call);
  /// The user has chosen the arguments of the next job of this kind.
  void jobChosen(const spanscope::jobs::JobCall& call);
  /// The view shows how long this job would take, once the input has the estimate (findEstimate()).
  void estimateWanted(const spanscope::jobs::JobCall& call);
  /// The user performed the action of this command directly in the view.
  void performed(const QString& command);
  /// Views that show motion should show this moment.
  void momentChanged(const spanscope::ui::Moment& moment);
  /// Whether predictions should also compare the layouts.
  void layoutsWanted(bool wanted);
  /// The cache simulator has made a run for the list of runs.
  void predicted(const std::shared_ptr<const spanscope::workbench::TracedPrediction>& prediction);
};

/// The command that compares these runs, "run.compare:3,5". 0: any run.
QString compareRuns(RunId left, RunId right);
/// The runs of such a command; nothing for any other command.
std::optional<std::pair<RunId, RunId>> comparedRuns(const QString& command);

enum class LayoutId { Author, Explain, Measure, Diagnose };
/// All layouts, in the order of their buttons.
inline constexpr std::array kLayouts{LayoutId::Author, LayoutId::Explain, LayoutId::Measure,
                                     LayoutId::Diagnose};

/// The height of the space for docks. In a low space, more docks share a place as tabs. In a large space, the
/// canvas has most of the height, because other docks would be half empty.
enum class Room { Low, Middle, Full, Large };

/// The place of a dock in a layout, for a range of heights. Docks with the same column and cell share a place
/// as tabs.
struct ViewPlace {
  LayoutId layout = LayoutId::Author;
  Room least = Room::Low;
  Room most = Room::Large;
  int column = 0;  ///< from the left; kBelow: a strip below all columns
  int cell = 0;    ///< from the top of the column
  int tab = 0;     ///< from the left of the tabs
  int share = 0;   ///< of the column's height, in percent; used for the first tab only.
  /// Docks without a place in the layout share this place.
  bool takesOthers = false;

  static constexpr int kBelow = -1;
};

/// One entry of the table of views. Settings, `--screenshot` and file names use `id`.
struct ViewInfo {
  QString id;
  QString title;
  QString help;  ///< one sentence: what the view shows
  std::function<View*(QWidget* parent)> make;
  /// The facts that the view shows. If a trace does not report one of these facts, the dock shows a note.
  std::vector<Fact> needs{};
  std::vector<ViewPlace> places{};  ///< a layout without a place shows the dock only on request
  /// Commands of the command table that the view performs.
  std::vector<QString> commands{};
  bool isStrip = false;         ///< the dock has no title bar
  bool explainsBlocks = false;  ///< the view explains why a block was a hit or a miss
  bool staysInSight = false;    ///< no newly shown dock covers this dock, because the user edits in this dock
};
template <class T>
View* makeViewOf(QWidget* parent) {
  return new T(parent);
}
/// All views, in the order of the menu. Each view's ViewInfo is in its own file.
const std::vector<ViewInfo>& viewTable();

// Places of selectable items in a view, so that a lesson can point at an item.

/// Views that draw blocks or tokens one by one implement this class.
class DrawnParts {
 public:
  virtual ~DrawnParts() = default;

  /// The widget that contains the places below. A place outside of the widget is not visible.
  virtual const QWidget& placesIn() const = 0;
  /// The rectangles of the selected block or token, in pixels of that widget, visible or not. A block of
  /// tokens in several rows has one rectangle for each row. Empty: the view does not draw it.
  virtual std::vector<QRect> placesOf(const Selection& part) const = 0;
  /// Scrolls until `part` is visible.
  virtual void bringIntoSight(const Selection& part) = 0;
};

// Views that compute a part of their content on another thread.

/// Such views implement this class for pictures and tables. A picture or table is made once, and must be
/// complete.
class LateView {
 public:
  virtual ~LateView() = default;

  /// Waits for the computation, up to a time limit, and shows its result.
  virtual void finish() = 0;
};

}  // namespace spanscope::ui
