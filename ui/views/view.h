// SPDX-License-Identifier: GPL-3.0-or-later
// A view is what one dock shows. It is a pure function of its input. What a person does in a view comes back
// as signals.
#pragma once

#include "engine/jobs/job_call.h"
#include "ui/document/document_model.h"
#include "ui/session/moment.h"
#include "ui/session/selection.h"
#include "ui/session/view_input.h"

#include <QRect>
#include <QString>
#include <QWidget>

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

  /// For views that show motion of their own: `allowed` says whether there may be any.
  virtual void setMotion(std::function<bool()> /*allowed*/) {}

  /// Whether it can do now what this command of its row asks for, without the argument of the command.
  virtual bool canPerform(const QString& /*command*/) const { return false; }
  /// Does it. `command` may also be one that has the window show this view, "run.experiment:rag": then the
  /// view shows what its argument names. Throws Failure if there is no such thing.
  virtual void perform(const QString& /*command*/) {}

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
  /// canPerform() has changed.
  void commandsChanged();
  /// The engine should do this job.
  void jobWanted(const spanscope::jobs::JobCall& call);
  /// The user did in the view what this command of it would have done.
  void performed(const QString& command);
  /// Views that show motion should show this moment.
  void momentChanged(const spanscope::ui::Moment& moment);
  /// Whether predictions should also compare the layouts.
  void layoutsWanted(bool wanted);
  /// A simulator has made a run for the list of runs.
  void predicted(const std::shared_ptr<const spanscope::workbench::TracedPrediction>& prediction);
};

/// The command that has a view compare these runs, "run.compare:3,5"; 0: whichever.
QString compareRuns(RunId left, RunId right);
/// The runs of such a command; nothing: it is another one.
std::optional<std::pair<RunId, RunId>> comparedRuns(const QString& command);

enum class LayoutId { Author, Explain, Measure };

/// How high the place of the docks is. In a low one, more docks share a place as tabs, so that each can be
/// used. In a large one the canvas has most of it, where other docks would be half empty.
enum class Room { Low, Middle, Full, Large };

/// Where a dock is in a layout, in rooms from one height to another. Docks with the same column and cell
/// share a place as tabs.
struct ViewPlace {
  LayoutId layout = LayoutId::Author;
  Room least = Room::Low;
  Room most = Room::Large;
  int column = 0;  ///< from the left; kBelow: a strip below all columns
  int cell = 0;    ///< from the top of the column
  int tab = 0;     ///< from the left of the tabs
  int share = 0;   ///< of the column's height, in percent; of the first tab only
  /// Docks that the layout does not have share this place.
  bool takesOthers = false;

  static constexpr int kBelow = -1;
};

/// One entry of the table of views. Settings, `--screenshot` and file names use `id`.
struct ViewInfo {
  QString id;
  QString title;
  QString help;  ///< one sentence: what the view shows
  std::function<View*(QWidget* parent)> make;
  /// What it shows: where a trace does not report one of these, the dock says so.
  std::vector<Fact> needs{};
  std::vector<ViewPlace> places{};  ///< a layout without one shows the dock only on request
  /// Commands of the command table that the view performs.
  std::vector<QString> commands{};
  bool isStrip = false;         ///< it has no title bar
  bool explainsBlocks = false;  ///< it says itself why a block was found or not
  bool staysInSight = false;    ///< no dock that is brought covers it: the user edits in it
};
template <class T>
View* makeViewOf(QWidget* parent) {
  return new T(parent);
}
/// All views, in the order of the menu. The row of a view is beside its code.
const std::vector<ViewInfo>& viewTable();

// Where a view draws what can be selected, so that a lesson can point at it.

/// Implemented by views that draw blocks or tokens one by one.
class DrawnParts {
 public:
  virtual ~DrawnParts() = default;

  /// The widget in which the places below are; what is outside of it is out of sight.
  virtual const QWidget& placesIn() const = 0;
  /// The rectangles of the selected block or token, in pixels of that widget, out of sight or not; a block of
  /// tokens in several rows has one for each. None: the view does not draw it.
  virtual std::vector<QRect> placesOf(const Selection& part) const = 0;
  /// Scrolls so far that it is in sight.
  virtual void bringIntoSight(const Selection& part) = 0;
};

// Views that compute a part of what they show on a thread of their own.

/// Implemented by such views, for pictures and tables: these are made once, and must have all of it.
class LateView {
 public:
  virtual ~LateView() = default;

  /// Waits for what the view is computing, within bounds, and shows it.
  virtual void finish() = 0;
};

}  // namespace spanscope::ui
