// SPDX-License-Identifier: GPL-3.0-or-later
// Frames around what a lesson speaks of, wherever the docks draw it, and an arrow to it from the word at
// which the learner is. They are drawn over the window, and take no input.
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
  /// All must outlive the marks.
  LessonMarks(const WindowParts& parts, const WindowStage& stage, LessonReader& reader);
  ~LessonMarks() override;

  /// Looks again at what is spoken of, and where it is.
  void refresh();
  /// Brings the part to the front and into sight, and gives it the focus.
  void bring(const lesson::Target& target);

  struct Frame {
    QWidget* window = nullptr;  ///< in whose pixels the place is: the main window, or a floating dock
    QRect place;
    bool isPointed = false;  ///< the arrow leads to it
    bool operator==(const Frame&) const = default;
  };
  /// What is framed now: a rectangle for each place in sight.
  const std::vector<Frame>& frames() const { return m_frames; }
  /// The end of the arrow in pixels of the main window; nothing: there is no arrow.
  std::optional<QPoint> arrowEnd() const;

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  /// A part in a dock.
  struct Drawn {
    Dock* dock = nullptr;
    std::vector<QRect> places;  ///< in global pixels, out of sight or not; none: the dock itself
    QRect sight;                ///< the part of the screen in which they can be seen; null: a tab covers it
  };
  /// Where a target is drawn: the dock that the step speaks of before others, docks in sight before others.
  std::optional<Drawn> drawnAt(const lesson::Target& target) const;
  std::optional<Drawn> drawnIn(Dock& dock, const Selection& part) const;
  /// Where an arrow leads to: the part, else the edge beyond which it lies, else the tab of its dock.
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
  std::optional<QRect> m_goal;  ///< of the arrow, in pixels of the main window
  std::vector<QRect> m_words;   ///< from which it comes
  std::map<QWidget*, QPointer<MarkOverlay>> m_overlays;
  QTimer m_later;
  bool m_isWatching = false;
};

}  // namespace spanscope::ui
