// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/window/lesson_marks.h"

#include "ui/editor/canvas.h"
#include "ui/lessons/lesson_reader.h"
#include "ui/views/view.h"
#include "ui/window/dock_host.h"
#include "ui/window/whole_tabs.h"
#include "ui/window/window_parts.h"
#include "ui/window/window_stage.h"
#include "ui/window/workspace.h"

#include <QApplication>
#include <QEvent>
#include <QPainter>
#include <QScrollArea>
#include <QTabBar>
#include <QToolButton>
#include <QWidget>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>

namespace spanscope::ui {
namespace {

constexpr int kRoom = 4;         // pixels between an area and its frame
constexpr int kFrameWidth = 2;   // pixels
constexpr int kHalo = 2;         // pixels at each side of a line, as a margin to the content below
constexpr int kCorner = 7;       // pixels: the solid corners of a frame
constexpr int kHead = 9;         // pixels: the length of the arrow's head
constexpr int kFrame = 16;       // milliseconds
constexpr int kShowing = 100;    // milliseconds from a new step to the scrolling of its views
constexpr double kMostly = 0.6;  ///< visible share of a target that counts as visible

QRect inWindow(const QRect& global, const QWidget& window) {
  return {window.mapFromGlobal(global.topLeft()), global.size()};
}

QRect globally(const QWidget& widget, const QRect& place) {
  return {widget.mapToGlobal(place.topLeft()), place.size()};
}

/// The area of a widget that no parent clips, in global pixels. Another tab may cover this area.
QRect sightOf(const QWidget& widget) {
  QRect sight = globally(widget, widget.rect());
  for (const QWidget* at = widget.parentWidget(); at != nullptr && !at->isWindow(); at = at->parentWidget())
    sight &= globally(*at, at->rect());
  return sight;
}

}  // namespace

/// The marks over one window.
struct Marks {
  std::vector<LessonMarks::Frame> frames;
  QPainterPath arrow;
  std::vector<QRect> words;
  Theme theme;
  bool operator==(const Marks&) const = default;
};

/// Draws the marks of one window, with small widgets at the places of marks. A widget over the whole window
/// would be painted with every change below it.
class MarkOverlay : public QObject {
 public:
  explicit MarkOverlay(QWidget* window) : QObject(window), m_window(window) {}

  void showMarks(Marks marks) {
    if (marks == m_marks) return;
    m_marks = std::move(marks);
    std::vector<QRect> drawn;
    for (const LessonMarks::Frame& frame : m_marks.frames) {
      constexpr int kOut = kFrameWidth + kHalo;
      const QRect outer = frame.place.adjusted(-kOut, -kOut, kOut, kOut);
      const QRect inner = frame.place.adjusted(kOut, kOut, -kOut, -kOut);
      if (inner.height() < kCorner || inner.width() < kCorner) {
        drawn.push_back(outer);
        continue;
      }
      drawn.emplace_back(outer.topLeft(), QPoint(outer.right(), inner.top()));
      drawn.emplace_back(QPoint(outer.left(), inner.bottom()), outer.bottomRight());
      drawn.emplace_back(QPoint(outer.left(), inner.top()), QPoint(inner.left(), inner.bottom()));
      drawn.emplace_back(QPoint(inner.right(), inner.top()), QPoint(outer.right(), inner.bottom()));
    }
    if (!m_marks.arrow.isEmpty()) {
      constexpr int kOut = kFrameWidth + kHalo;
      drawn.push_back(m_marks.arrow.boundingRect().toAlignedRect().adjusted(-kOut, -kOut, kOut, kOut));
    }
    for (const QRect& word : m_marks.words) drawn.emplace_back(word.left(), word.bottom(), word.width(), 2);
    for (std::size_t i = 0; i < drawn.size(); ++i) {
      if (i == m_pieces.size()) m_pieces.push_back(new Piece(m_marks, m_window));
      m_pieces[i]->setGeometry(drawn[i] & m_window->rect());
      m_pieces[i]->update();
      if (m_pieces[i]->isHidden()) {
        m_pieces[i]->show();
        m_pieces[i]->raise();
      }
    }
    for (std::size_t i = drawn.size(); i < m_pieces.size(); ++i) m_pieces[i]->hide();
  }

 private:
  /// A part of the window in which marks are drawn.
  class Piece : public QWidget {
   public:
    Piece(const Marks& marks, QWidget* window) : QWidget(window), m_marks(marks) {
      setObjectName(QStringLiteral("lessonMarks"));
      setAttribute(Qt::WA_TransparentForMouseEvents);
      setAttribute(Qt::WA_NoSystemBackground);
      setFocusPolicy(Qt::NoFocus);
      hide();
    }

   protected:
    void paintEvent(QPaintEvent* /*event*/) override {
      QPainter painter(this);
      painter.setRenderHint(QPainter::Antialiasing);
      painter.translate(-pos());
      const QColor ink = m_marks.theme.color(Role::Accent);
      const QColor ground = m_marks.theme.color(Role::Surface);
      for (const LessonMarks::Frame& frame : m_marks.frames) paintFrame(painter, frame, ink, ground);
      for (const QRect& word : m_marks.words)
        painter.fillRect(QRect(word.left(), word.bottom(), word.width(), 2), ink);
      if (m_marks.arrow.isEmpty()) return;
      painter.setBrush(Qt::NoBrush);
      painter.setPen(QPen(ground, kFrameWidth + 2 * kHalo, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
      painter.drawPath(m_marks.arrow);
      painter.setPen(QPen(ink, kFrameWidth, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
      painter.drawPath(m_marks.arrow);
    }

   private:
    const Marks& m_marks;
  };

  /// Draws dashes with solid corners. Solid lines mark selected items.
  static void paintFrame(QPainter& painter, const LessonMarks::Frame& frame, const QColor& ink,
                         const QColor& ground) {
    const QRectF box(frame.place);
    const double width = frame.isPointed ? kFrameWidth + 1 : kFrameWidth;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(ground, width + kHalo, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
    painter.drawRect(box);
    QPen dashes(ink, width, Qt::CustomDashLine, Qt::FlatCap);
    dashes.setDashPattern({3, 2});
    painter.setPen(frame.isPointed ? QPen(ink, width) : dashes);
    painter.drawRect(box);
    painter.setPen(QPen(ink, width + 1, Qt::SolidLine, Qt::SquareCap, Qt::MiterJoin));
    const double corner = std::min({double(kCorner), box.width() / 3, box.height() / 3});
    const auto drawCorner = [&](QPointF at, double x, double y) {
      painter.drawPolyline(QPolygonF({at + QPointF(x * corner, 0), at, at + QPointF(0, y * corner)}));
    };
    drawCorner(box.topLeft(), 1, 1);
    drawCorner(box.topRight(), -1, 1);
    drawCorner(box.bottomLeft(), 1, -1);
    drawCorner(box.bottomRight(), -1, -1);
  }

  QWidget* m_window;
  Marks m_marks;
  std::vector<Piece*> m_pieces;  ///< children of the window
};

namespace {

/// An arrow from the link to the nearer side of the area; empty if link and area touch. Up to `textEnd` the
/// arrow runs below the line of the link.
QPainterPath arrowBetween(const QRect& word, const QRect& part, int textEnd) {
  if (word.adjusted(-kHead, -kHead, kHead, kHead).intersects(part)) return {};
  const QPointF start(word.right() + 1, word.bottom() + 1);
  const QPointF from(std::max(textEnd, word.right()), start.y());
  // The arrow ends in the middle of the side near the link. For a tall area, the arrow ends at the height of
  // the link.
  const double y = std::clamp(from.y(), double(part.top() + std::min(12, (part.height() - 1) / 2)),
                              double(part.bottom() - std::min(12, (part.height() - 1) / 2)));
  QPointF to(part.left() - kRoom, y);
  QPointF direction(1, 0);
  if (part.left() < from.x() + 4 * kHead) {
    const bool isBelow = part.center().y() > from.y();
    to = QPointF(part.center().x(), isBelow ? part.top() - kRoom : part.bottom() + kRoom);
    direction = QPointF(0, isBelow ? 1 : -1);
  }
  const double bend = std::min(120.0, std::hypot(to.x() - from.x(), to.y() - from.y()) / 2);
  QPainterPath path(start);
  path.lineTo(from);
  path.cubicTo(from + QPointF(bend, 0), to - direction * bend, to);
  const QPointF across(-direction.y(), direction.x());
  path.moveTo(to - direction * kHead + across * kHead * 0.6);
  path.lineTo(to);
  path.lineTo(to - direction * kHead - across * kHead * 0.6);
  return path;
}

}  // namespace

LessonMarks::LessonMarks(const WindowParts& parts, const WindowStage& stage, LessonReader& reader)
    : QObject(&parts.window),
      m_window(parts.window),
      m_workspace(parts.workspace),
      m_docks(parts.docks),
      m_canvas(parts.canvas),
      m_pages(parts.pages),
      m_stage(stage),
      m_reader(reader) {
  m_later.setSingleShot(true);
  m_later.setInterval(kFrame);
  connect(&m_later, &QTimer::timeout, this, &LessonMarks::refresh);
  m_showing.setSingleShot(true);
  m_showing.setInterval(kShowing);
  connect(&m_showing, &QTimer::timeout, this, &LessonMarks::showTargets);
  connect(&reader, &LessonReader::pointedChanged, this, &LessonMarks::refresh);
  connect(&reader, &LessonReader::followed, this, &LessonMarks::bring);
}

LessonMarks::~LessonMarks() {
  watch(false);
}

MarkOverlay& LessonMarks::overlayOf(QWidget& window) {
  QPointer<MarkOverlay>& overlay = m_overlays[&window];
  if (overlay == nullptr) overlay = new MarkOverlay(&window);
  return *overlay;
}

std::optional<LessonMarks::Drawn> LessonMarks::drawnIn(Dock& dock, const Selection& part) const {
  Drawn drawn{.dock = &dock, .places = {}, .sight = {}};
  const QWidget* inside = nullptr;
  if (dock.id() == QLatin1String("canvas")) {
    const QRect place = m_canvas.placeOf(part.currentNode());
    if (place.isNull() || part.block || part.token) return std::nullopt;
    inside = &m_canvas;
    // A chip extends below the node by about half of its height.
    constexpr double kBelow = 10;  // scene pixels
    drawn.places = {place.adjusted(0, 0, 0, static_cast<int>(kBelow * m_canvas.place().zoom))};
  } else {
    const auto* view = dynamic_cast<const DrawnParts*>(dock.view());
    if (view == nullptr) return std::nullopt;
    inside = &view->placesIn();
    drawn.places = view->placesOf(part);
    if (drawn.places.empty()) return std::nullopt;
  }
  for (QRect& place : drawn.places) place = globally(*inside, place);
  if (inside->isVisible() && !dock.visibleRegion().isEmpty()) drawn.sight = sightOf(*inside);
  return drawn;
}

std::optional<LessonMarks::Drawn> LessonMarks::drawnAt(const lesson::Target& target) const {
  if (target.kind == lesson::Target::Kind::Dock) {
    Dock* dock = m_docks.dock(QString::fromStdString(target.dock));
    if (dock == nullptr) return std::nullopt;
    const bool isSeen = dock->isVisible() && !dock->visibleRegion().isEmpty();
    return Drawn{
        .dock = dock, .places = {globally(*dock, dock->rect())}, .sight = isSeen ? sightOf(*dock) : QRect()};
  }
  const LessonCourse* course = m_reader.course();
  const std::optional<Selection> part = partOf(target);
  if (!part) return std::nullopt;
  std::vector<QString> ids{course->dock(), QStringLiteral("canvas"), QStringLiteral("tokens"),
                           QStringLiteral("block-table")};
  if (target.kind == lesson::Target::Kind::Block) std::swap(ids[2], ids[3]);
  std::optional<Drawn> best;
  for (const QString& id : ids) {
    Dock* dock = m_docks.dock(id);
    std::optional<Drawn> drawn = dock == nullptr ? std::nullopt : drawnIn(*dock, *part);
    if (!drawn) continue;
    if (isSeen(*drawn)) return drawn;
    if (!best || (best->sight.isNull() && !drawn->sight.isNull())) best = std::move(drawn);
  }
  return best;
}

std::optional<Selection> LessonMarks::partOf(const lesson::Target& target) const {
  const LessonCourse* course = m_reader.course();
  if (course == nullptr || !m_stage.isInView() || m_pages.isWelcome()) return std::nullopt;
  return course->selectionFor(target);
}

bool LessonMarks::isSeen(const Drawn& drawn) {
  double all = 0;
  double seen = 0;
  for (const QRect& place : drawn.places) {
    const QRect inSight = place & drawn.sight;
    all += double(place.width()) * place.height();
    if (!inSight.isEmpty()) seen += double(inSight.width()) * inSight.height();
  }
  return all > 0 && seen >= kMostly * all;
}

bool LessonMarks::isSeen(const lesson::Target& target) const {
  const std::optional<Drawn> drawn = drawnAt(target);
  return drawn && isSeen(*drawn);
}

namespace {

/// Scrolls a view, and the area around the view, until `part` is visible.
void reveal(DrawnParts& view, const Selection& part) {
  view.bringIntoSight(part);
  const std::vector<QRect> places = view.placesOf(part);
  if (places.empty()) return;
  for (const QWidget* inside = &view.placesIn(); inside != nullptr; inside = inside->parentWidget()) {
    auto* around = qobject_cast<QScrollArea*>(inside->parentWidget());
    if (around == nullptr || around->widget() == nullptr) continue;
    const QPoint middle = view.placesIn().mapTo(around->widget(), places.front().center());
    around->ensureVisible(middle.x(), middle.y(), places.front().width(), places.front().height());
  }
}

}  // namespace

void LessonMarks::showTargets() {
  const LessonCourse* course = m_reader.course();
  if (course == nullptr || course->isBusy() || !m_reader.isVisible() || m_reader.showsLessons()) return;
  bool isOnCanvas = false;
  // The learner cannot drag a node that is in a stack.
  for (const LessonCourse::Task& task : course->tasks()) {
    if (task.isDone || task.action->kind != lesson::ActionKind::Swap) continue;
    for (const auto& argument : task.action->arguments) {
      const auto* target = std::get_if<lesson::Target>(&argument.value);
      const std::optional<Selection> part = target == nullptr ? std::nullopt : partOf(*target);
      if (part) m_canvas.showApart(part->currentNode());
    }
  }
  // A frame around a stack would not show which of its nodes the text means.
  std::vector<document::NodeId> named;
  for (const lesson::Target& target : course->spokenOf()) {
    const std::optional<Selection> part =
        target.kind == lesson::Target::Kind::Node ? partOf(target) : std::nullopt;
    constexpr std::size_t kMostNamed = 6;
    if (part && part->nodes.size() == 1 && named.size() < kMostNamed) named.push_back(part->currentNode());
  }
  isOnCanvas = m_canvas.showNamed(named);
  for (const lesson::Target& target : course->spokenOf()) {
    // The text names other docks without showing them.
    if (target.kind == lesson::Target::Kind::Dock) continue;
    const std::optional<Selection> part = partOf(target);
    if (!part) continue;
    // The dock of the step shows the target, even if another dock shows it, too.
    Dock* const own = m_docks.dock(course->dock());
    auto* const ownView = own == nullptr ? nullptr : dynamic_cast<DrawnParts*>(own->openView());
    if (ownView != nullptr) {
      const std::optional<Drawn> there = drawnIn(*own, *part);
      if (there && !isSeen(*there)) reveal(*ownView, *part);
    }
    if (isSeen(target)) continue;
    const std::optional<Drawn> drawn = drawnAt(target);
    const QString id = drawn                                        ? drawn->dock->id()
                       : target.kind == lesson::Target::Kind::Block ? QStringLiteral("block-table")
                       : target.kind == lesson::Target::Kind::Token ? QStringLiteral("tokens")
                                                                    : QStringLiteral("canvas");
    if (!drawn || drawn->sight.isNull()) {
      // A maximised dock stays, because the step or the learner has chosen this dock.
      if (m_docks.maximised() != nullptr) continue;
      m_docks.bring(id);
    }
    Dock* const dock = m_docks.dock(id);
    if (id == QLatin1String("canvas")) {
      isOnCanvas = true;
    } else if (auto* view = dynamic_cast<DrawnParts*>(dock == nullptr ? nullptr : dock->openView())) {
      reveal(*view, *part);
    }
  }
  if (isOnCanvas) m_canvas.fit();
  m_later.start();
}

QRect LessonMarks::goalOf(const Drawn& drawn) const {
  if (!drawn.sight.isNull()) {
    const QRect& place = drawn.places.front();
    if (const QRect seen = place & drawn.sight; !seen.isEmpty())
      return seen.adjusted(-kRoom, -kRoom, kRoom, kRoom);
    // The area was scrolled away. The arrow ends at the edge in the direction of the area.
    const QPoint at(std::clamp(place.center().x(), drawn.sight.left(), drawn.sight.right()),
                    std::clamp(place.center().y(), drawn.sight.top(), drawn.sight.bottom()));
    return {at, QSize(1, 1)};
  }
  for (const QTabBar* tabs : m_docks.findChildren<QTabBar*>(QString(), Qt::FindDirectChildrenOnly)) {
    for (int i = 0; tabs->isVisible() && i < tabs->count(); ++i) {
      if (tabs->tabText(i) != drawn.dock->windowTitle()) continue;
      if (tabs->isTabVisible(i)) return globally(*tabs, tabs->tabRect(i));
      // The list has the tabs without room.
      const auto* whole = tabs->findChild<WholeTabs*>();
      return whole == nullptr ? QRect() : globally(*tabs, whole->list()->geometry());
    }
  }
  return {};
}

void LessonMarks::refresh() {
  const LessonCourse* course = m_reader.course();
  std::vector<lesson::Target> targets;
  const bool isShown = course != nullptr && m_reader.isVisible() && !m_reader.showsLessons();
  if (isShown)
    targets = course->spokenOf();
  else
    m_canvas.showNamed({});
  const std::optional<LessonReader::Pointed> pointed = isShown ? m_reader.pointed() : std::nullopt;
  watch(!targets.empty());

  std::vector<Frame> frames;
  std::optional<QRect> goal;
  for (const lesson::Target& target : targets) {
    const std::optional<Drawn> drawn = drawnAt(target);
    if (!drawn) continue;
    const bool isPointed = pointed && pointed->target == target;
    if (isPointed) {
      if (const QRect at = goalOf(*drawn); !at.isNull()) goal = inWindow(at, m_window);
    }
    // The whole dock of the step is already marked.
    if (target.kind == lesson::Target::Kind::Dock && !isPointed) continue;
    QWidget* const window = drawn->dock->window();
    for (const QRect& place : drawn->places) {
      QRect seen = place & drawn->sight;
      if (seen.isEmpty()) continue;
      // The frame is around the area, but inside the visible region.
      const QRect box = place.adjusted(-kRoom, -kRoom, kRoom, kRoom) & drawn->sight.adjusted(1, 1, -2, -2);
      frames.push_back({.window = window, .place = inWindow(box, *window), .isPointed = isPointed});
    }
  }
  m_frames = std::move(frames);
  m_words.clear();
  if (pointed && goal) {
    for (const QRect& word : pointed->words)
      m_words.emplace_back(m_reader.mapTo(&m_window, word.topLeft()), word.size());
  }
  // For an area in a floating dock, the arrow ends at the edge of the main window.
  if (goal) {
    const QRect all = m_window.rect().adjusted(kHead, kHead, -kHead, -kHead);
    const QPoint middle = goal->center();
    if (!goal->intersects(all)) {
      goal = QRect(std::clamp(middle.x(), all.left(), all.right()),
                   std::clamp(middle.y(), all.top(), all.bottom()), 1, 1);
    }
  }
  m_goal = m_words.empty() ? std::nullopt : goal;

  const Theme theme = m_workspace.input().theme;
  QPainterPath arrow;
  if (m_goal) {
    const int textEnd = m_reader.mapTo(&m_window, QPoint(m_reader.width(), 0)).x();
    arrow = arrowBetween(m_words.back(), *m_goal, textEnd);
  }
  std::map<QWidget*, std::vector<Frame>> byWindow;
  for (const Frame& frame : m_frames) byWindow[frame.window].push_back(frame);
  if (!arrow.isEmpty() || !m_words.empty()) byWindow.try_emplace(&m_window);
  for (const auto& [window, own] : byWindow) overlayOf(*window);
  std::erase_if(m_overlays, [](const auto& entry) { return entry.second == nullptr; });
  for (const auto& [window, overlay] : m_overlays) {
    const bool isMain = window == &m_window;
    overlay->showMarks({.frames = byWindow[window],
                        .arrow = isMain ? arrow : QPainterPath(),
                        .words = isMain ? m_words : std::vector<QRect>(),
                        .theme = theme});
  }
}

std::optional<QPoint> LessonMarks::arrowEnd() const {
  if (!m_goal || m_words.empty()) return std::nullopt;
  return m_goal->center();
}

void LessonMarks::watch(bool isWatching) {
  if (m_isWatching == isWatching) return;
  m_isWatching = isWatching;
  if (isWatching)
    qApp->installEventFilter(this);
  else
    qApp->removeEventFilter(this);
}

/// Follows moved areas: every move also paints something.
bool LessonMarks::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::Paint || m_later.isActive()) return false;
  const auto* widget = qobject_cast<const QWidget*>(watched);
  if (widget != nullptr && widget->objectName() != QLatin1String("lessonMarks")) m_later.start();
  return false;
}

void LessonMarks::bring(const lesson::Target& target) {
  const LessonCourse* course = m_reader.course();
  const std::optional<Selection> part = course == nullptr ? std::nullopt : course->selectionFor(target);
  // The dock of the step comes back for its target, even if another dock shows the target at this moment.
  Dock* dock = course == nullptr || !part ? nullptr : m_docks.dock(course->dock());
  if (dock == nullptr || !drawnIn(*dock, *part)) {
    const std::optional<Drawn> drawn = drawnAt(target);
    dock = drawn ? drawn->dock : nullptr;
  }
  if (dock == nullptr &&
      (target.kind == lesson::Target::Kind::Block || target.kind == lesson::Target::Kind::Token)) {
    // The view was not made yet.
    dock = m_docks.dock(target.kind == lesson::Target::Kind::Block ? QStringLiteral("block-table")
                                                                   : QStringLiteral("tokens"));
  }
  if (dock == nullptr) return;
  const bool wasMaximised = m_docks.maximised() != nullptr;
  m_docks.bring(dock->id());
  if (wasMaximised && m_docks.maximised() == nullptr && !dock->isFloating()) m_docks.toggleMaximised(dock);
  QWidget* inside = dock->openView();
  if (dock->id() == QLatin1String("canvas")) {
    inside = &m_canvas;
    if (part) m_canvas.reveal(part->currentNode());
  } else if (auto* view = dynamic_cast<DrawnParts*>(dock->view()); view != nullptr && part) {
    reveal(*view, *part);
  }
  if (dock->isFloating()) dock->activateWindow();
  if (inside != nullptr) inside->setFocus(Qt::OtherFocusReason);
  // The dock gets its place after the layout.
  m_later.start();
}

}  // namespace spanscope::ui
