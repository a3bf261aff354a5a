// SPDX-License-Identifier: GPL-3.0-or-later
// Frames around the areas of the window that a lesson names, and an arrow from the link under the mouse or
// the keyboard focus to its area. Frames and arrow are drawn over the window and take no input.
#pragma once

#include "engine/lesson/actions.h"
#include "ui/theme/theme.h"
#include "ui/window/window_parts.h"

#include <QObject>
#include <QPainterPath>
#include <QPoint>
#include <QPointer>
#include <QRect>
#include <QTimer>

#include <map>
#include <optional>
#include <vector>

namespace spanscope::ui {

class Dock;
class LessonReader;
class MarkOverlay;
struct Selection;
class WindowStage;

class LessonMarks : public QObject {
  Q_OBJECT
 public:
  /// All arguments must outlive this object.
  LessonMarks(const WindowParts& parts, const WindowStage& stage, LessonReader& reader);
  ~LessonMarks() override;

  /// Updates the named areas and their places.
  void refresh();
  /// Scrolls the views, so that the targets of the step are visible. The views must have drawn the step, so
  /// the scrolling happens a little later.
  void showTargetsLater() { m_showing.start(); }
  /// Whether a view shows most of a target now.
  bool isSeen(const lesson::Target& target) const;
  /// Shows the dock of an area, scrolls to the area, and gives the dock's view the focus.
  void bring(const lesson::Target& target);

  struct Frame {
    QWidget* window = nullptr;  ///< the main window or a floating dock; `place` is in pixels of this window
    QRect place;
    bool isPointed = false;  ///< the arrow points to this frame
    bool operator==(const Frame&) const = default;
  };
  /// The current frames, one for each visible place.
  const std::vector<Frame>& frames() const { return m_frames; }
  /// The end of the arrow in pixels of the main window; nothing: there is no arrow.
  std::optional<QPoint> arrowEnd() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// The places of an area in a dock.
  struct Drawn {
    Dock* dock = nullptr;
    std::vector<QRect> places;  ///< in global pixels, also places out of sight; never empty
    QRect sight;                ///< the visible area of the view, in global pixels; null: the dock is covered
  };
  /// The dock that draws a target. Visible docks come first, then the dock that the step names.
  std::optional<Drawn> drawnAt(const lesson::Target& target) const;
  void showTargets();
  /// The part of the window that the target means; nothing: the current tab does not have it.
  std::optional<Selection> partOf(const lesson::Target& target) const;
  /// Whether the view shows most of these places.
  static bool isSeen(const Drawn& drawn);
  std::optional<Drawn> drawnIn(Dock& dock, const Selection& part) const;
  /// The end of the arrow: the area, else the nearest edge of its view, else the tab of its dock.
  QRect goalOf(const Drawn& drawn) const;
  void watch(bool isWatching);
  MarkOverlay& overlayOf(QWidget& window);

  QMainWindow& m_window;
  Workspace& m_workspace;
  DockHost& m_docks;
  Canvas& m_canvas;
  const PageArea& m_pages;
  const WindowStage& m_stage;
  LessonReader& m_reader;
  std::vector<Frame> m_frames;
  std::optional<QRect> m_goal;  ///< end of the arrow, in pixels of the main window
  std::vector<QRect> m_words;   ///< areas of the link, the start of the arrow, in pixels of the main window
  std::map<QWidget*, QPointer<MarkOverlay>> m_overlays;
  QTimer m_later;
  QTimer m_showing;  ///< waits until the views have drawn the step
  bool m_isWatching = false;
};

}  // namespace spanscope::ui
