// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/canvas_parts.h"

#include "engine/workbench/document/edits.h"
#include "ui/commands/command_table.h"
#include "ui/editor/alignment.h"
#include "ui/editor/node_look.h"
#include "ui/editor/tidy_layout.h"

#include <QAccessible>
#include <QContextMenuEvent>
#include <QKeyEvent>
#include <QLabel>
#include <QMenu>
#include <QMimeData>
#include <QUrl>

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <utility>

namespace spanscope::ui {

using document::Document;
using document::kNoNode;
using document::NodeId;
using document::Rect;

namespace {

constexpr int kOverlayMargin = 12;
constexpr int kSettled = 400;  ///< milliseconds until a new window has its final size

QRectF toRect(const Rect& rect) {
  return {rect.x, rect.y, rect.width, rect.height};
}

}  // namespace

CanvasParts::CanvasParts(Canvas& canvas)
    : m_canvas(canvas),
      m_core(&canvas),  // the accessible canvas finds it as a child
      m_scene(m_core, nullptr),
      m_view(new CanvasView(m_scene, &canvas)),
      m_gestures(m_core, m_scene, *m_view, nullptr),
      m_popup(new AddPopup(&canvas)),
      m_findBar(new FindBar(&canvas)),
      m_lineEdit(new InlineEdit(&canvas)),
      m_noteEdit(new NoteEdit(&canvas)),
      m_minimap(new Minimap(&canvas)),
      m_strip(new AnswerStrip(&canvas)),
      m_greeting(new QLabel(&canvas)) {
  m_view->setGestures(&m_gestures);
  m_canvas.installEventFilter(this);
  connectParts();
  addDocumentCommands(m_commands, m_core, [this] { return m_view->centerPoint(); });
  addViewCommands();
  m_minimap->setTheme(m_core.theme());
  m_minimap->hide();
  m_strip->setTheme(m_core.theme());
  m_strip->hide();
  m_greeting->setObjectName(QStringLiteral("greeting"));
  m_greeting->setAlignment(Qt::AlignCenter);
  m_greeting->setWordWrap(true);
  m_greeting->setAttribute(Qt::WA_TransparentForMouseEvents);
  m_greeting->hide();
  m_sayCut.setSingleShot(true);
  m_sayCut.setInterval(kSettled);
  connect(&m_sayCut, &QTimer::timeout, this, [this] {
    if (!m_keepsFit || m_core.document().size() == 0 || !m_canvas.isVisible() || isWhole()) return;
    if (m_view->fittingZoom(m_scene.contentRect()) >= kLeastWholeZoom) return;
    m_isCutSaid = true;
    m_core.say(
        tr("The query is larger than the canvas. Press Home to see the whole query. The overview shows the "
           "visible area."));
  });
}

CanvasParts::~CanvasParts() {
  // The view belongs to the canvas and outlives the scene and the gestures.
  m_view->setGestures(nullptr);
  m_view->setScene(nullptr);
}

void CanvasParts::connectParts() {
  connect(&m_gestures, &CanvasGestures::pressed, this, [this] {
    m_keepsFit = false;
    m_canvas.setFocus(Qt::MouseFocusReason);
  });
  connect(m_view, &CanvasView::movedByUser, this, [this] { m_keepsFit = false; });
  connect(&m_gestures, &CanvasGestures::addWanted, this, &CanvasParts::openAdd);
  connect(&m_gestures, &CanvasGestures::editWanted, this, &CanvasParts::editWanted);
  connect(&m_gestures, &CanvasGestures::openWanted, this, &CanvasParts::openStack);
  connect(&m_gestures, &CanvasGestures::restackWanted, this, &CanvasParts::restack);
  connect(&m_core, &CanvasCore::added, this, &CanvasParts::showAdded);
  connect(m_strip, &AnswerStrip::wanted, this, &CanvasParts::reveal);
  connect(&m_gestures, &CanvasGestures::connected, this, [this](NodeId child) {
    // The layout has moved the node to its place among the inputs.
    const QRectF rect = rectOf(child);
    if (!m_view->visibleRect().contains(rect)) m_view->bringIntoSight(rect);
  });
  connect(&m_gestures, &CanvasGestures::renameAreaWanted, this, &CanvasParts::renameArea);
  connect(m_popup, &AddPopup::chosen, this, &CanvasParts::add);
  connect(m_popup, &AddPopup::closed, this, [this] { m_canvas.setFocus(); });
  connect(m_lineEdit, &InlineEdit::closed, this, [this] { m_canvas.setFocus(); });
  connect(m_noteEdit, &NoteEdit::closed, this, [this] { m_canvas.setFocus(); });
  connect(m_findBar, &FindBar::closed, this, [this] { m_canvas.setFocus(); });
  connect(m_findBar, &FindBar::textChanged, this, &CanvasParts::find);
  connect(m_findBar, &FindBar::nextWanted, this, &CanvasParts::findNext);
  connect(m_minimap, &Minimap::centerWanted, m_view, [this](QPointF at) {
    m_keepsFit = false;
    m_view->centerOn(at);
  });
  connect(m_view, &CanvasView::placeChanged, this, [this] {
    m_minimap->setSeen(m_view->visibleRect());
    showMinimap();
    updateStrip();
    followEdited();
  });
  connect(&m_core, &CanvasCore::looksChanged, this, &CanvasParts::followEdited);
  connect(&m_core, &CanvasCore::statusesChanged, this, &CanvasParts::takeStatuses);
  connect(&m_core, &CanvasCore::drawnChanged, this, [this] {
    updateMinimap();
    if (!m_core.hasPreview()) takeDrawn();
    followEdited();
  });
  connect(&m_core, &CanvasCore::selectionChanged, this, [this] {
    updateMinimap();
    m_scene.setChosenBend({});
    // The canvas shows a node that the user selected in another view.
    if (!m_gestures.isActive() && m_canvas.isVisible() && !m_canvas.hasFocus() &&
        m_core.selection().size() == 1)
      m_view->bringIntoSight(rectOf(m_core.current()));
    if (QAccessible::isActive()) {
      QAccessibleEvent event(&m_canvas, QAccessible::Focus);
      QAccessible::updateAccessibility(&event);
    }
  });
  connect(&m_core, &CanvasCore::themeChanged, this, [this] {
    m_minimap->setTheme(m_core.theme());
    m_strip->setTheme(m_core.theme());
    updateGreeting();
    m_canvas.update();
  });
}

void CanvasParts::takeDrawn() {
  const bool empty = m_core.document().size() == 0;
  if (m_wasEmpty && !empty) m_fitPending = true;
  m_wasEmpty = empty;
  if (m_fitPending) {
    fitWhenReady();
  } else {
    const bool grew = m_core.layout().size() > m_drawn.size();
    holdView();
    if (m_keepsFit && grew && !isWhole()) fitReadable(true);
  }
  noteDrawn();
  updateStrip();
  updateGreeting();
  m_canvas.update();
}

void CanvasParts::updateGreeting() {
  const Document& document = m_core.document();
  const bool isEmpty =
      m_core.model() != nullptr && document.size() == 0 && document.notes.empty() && document.frames.empty();
  m_greeting->setVisible(isEmpty);
  if (!isEmpty) return;
  const QString key =
      m_core.input() == nullptr ? QString() : m_core.input()->keyOf(QStringLiteral("node.add"));
  const QString files =
      m_core.input() == nullptr ? QString() : m_core.input()->keyOf(QStringLiteral("file.add-files"));
  m_greeting->setText(
      key.isEmpty() || files.isEmpty()
          ? tr("Drop files here, or paste text.")
          : tr("Drop files here, or press %1 to choose files. Paste text, or press %2 to add a node.")
                .arg(files, key));
  m_greeting->setFont(m_core.theme().interfaceFont());
  const QString sheet = QStringLiteral("color: %1").arg(m_core.theme().color(Role::TextSecond).name());
  if (m_greeting->styleSheet() != sheet) m_greeting->setStyleSheet(sheet);
  layOutOverlays();
}

void CanvasParts::noteDrawn() {
  const Document& document = m_core.document();
  m_drawn.clear();
  m_documentSize = document.size();
  for (const NodeId top : document.tops()) {
    for (const NodeId id : document.subtree(top)) {
      if (const Rect* rect = m_core.rectOf(id))
        m_drawn[id] = {.rect = toRect(*rect),
                       .isPlaced = document.at(top).position || document.at(id).position};
    }
  }
}

void CanvasParts::holdView() {
  const Document& document = m_core.document();
  const QRectF seen = m_view->visibleRect();
  const auto topOf = [&document](NodeId id) {
    while (document.at(id).parent != kNoNode) id = document.at(id).parent;
    return id;
  };
  // Every edit can move the nodes of the tidy layout. The view moves with the root, or with the node nearest
  // to the middle of the view. If the user has placed this node, neither the node nor the view moves.
  QPointF by;
  double nearest = std::numeric_limits<double>::max();
  bool wasAnySeen = false;
  for (const auto& [id, before] : m_drawn) {
    if (!seen.intersects(before.rect)) continue;
    wasAnySeen = true;
    const Rect* now = m_core.rectOf(id);
    if (now == nullptr || before.isPlaced || document.at(id).position || document.at(topOf(id)).position)
      continue;
    const QPointF away = before.rect.center() - seen.center();
    const double distance = id == document.root() ? -1 : std::hypot(away.x(), away.y());
    if (distance >= nearest) continue;
    nearest = distance;
    by = toRect(*now).center() - before.rect.center();
  }
  if (!by.isNull()) m_view->centerOn(m_view->centerPoint() + by);

  const QRectF shown = m_view->visibleRect();
  bool isAnySeen = false;
  bool isAnyNewSeen = false;
  QRectF added;  // rectangle of the added node that is nearest to the root
  for (const auto& [id, rect] : m_core.layout()) {
    const bool isSeen = shown.intersects(toRect(rect));
    isAnySeen = isAnySeen || isSeen;
    if (m_drawn.contains(id)) continue;
    isAnyNewSeen = isAnyNewSeen || isSeen;
    if (added.isNull() || rect.x > added.x()) added = toRect(rect);
  }
  if (document.size() > m_documentSize && !isAnyNewSeen && !added.isNull()) {
    m_view->bringIntoSight(added);
  } else if (wasAnySeen && !isAnySeen) {
    m_view->bringIntoSight(focusRect());
  }
}

void CanvasParts::takeStatuses() {
  std::set<NodeId> running;
  for (const auto& [id, status] : m_core.statuses()) {
    if (status.phase == NodePhase::Running) running.insert(id);
  }
  const bool others = running != m_running;
  m_running = std::move(running);
  if (others && m_keepsFit && !m_running.empty()) m_view->bringIntoSight(focusRect());
  updateStrip();
}

void CanvasParts::updateStrip() {
  // The strip shows the node whose answer began last.
  NodeId shown = kNoNode;
  for (const NodeId id : m_running) {
    // Until the next update of the statuses, the node can be one of the previous tab or a removed one.
    if (!m_core.document().contains(id)) continue;
    const NodeStatus& status = m_core.statusOf(id);
    if (shown == kNoNode || status.request > m_core.statusOf(shown).request) shown = id;
  }
  const bool isRead =
      shown == kNoNode || (m_view->zoom() >= kLeastFitZoom && m_view->visibleRect().contains(rectOf(shown)));
  if (isRead) {
    m_strip->hide();
    return;
  }
  const document::DocumentNode& node = m_core.document().at(shown);
  m_strip->showAnswer(shown, nodeTitle(node), QString::fromStdString(m_core.statusOf(shown).answer));
  layOutOverlays();
}

void CanvasParts::setModel(DocumentModel* model) {
  if (m_core.model() == model) return;
  m_gestures.cancel();
  m_popup->hide();
  m_findBar->hide();
  m_lineEdit->hide();
  m_noteEdit->end();
  m_fitPending = true;
  // Before its first display, the canvas has no size. Without a limit it would draw all nodes of a large
  // document, and stack them later.
  if (!m_canvas.isVisible()) giveRoom();
  m_core.setModel(model);
  updateGreeting();
}

void CanvasParts::giveRoom() {
  // If the width limits the zoom, smaller cards have room in the height.
  const QRectF content = m_scene.contentRect();
  const double byWidth =
      content.isEmpty()
          ? kReadableZoom
          : std::max(kTextZoom, m_view->fittingZoom({content.topLeft(), QSizeF(content.width(), 1)}));
  m_core.setRoom(m_view->heightAt(std::min(kReadableZoom, byWidth)),
                 m_view->heightAt(std::min(kLeastFitZoom, byWidth)));
}

void CanvasParts::fitWhenReady() {
  if (!m_fitPending || !m_canvas.isVisible() || m_core.document().size() == 0) return;
  m_fitPending = false;
  fitReadable();
}

void CanvasParts::fitReadable(bool grew) {
  giveRoom();
  const QRectF content = m_scene.contentRect();
  m_keepsFit = true;
  // An edit does not shrink readable cards to signs.
  const double whole = grew && m_view->zoom() >= kTextZoom ? kTextZoom : kLeastWholeZoom;
  m_view->fit(content, m_view->fittingZoom(content) >= whole ? whole : kLeastFitZoom);
  if (isWhole()) {
    // The message that the query is cut off is no longer true.
    if (std::exchange(m_isCutSaid, false)) m_core.say({});
    return;
  }
  // The root, which gives the result of the query, is at the right.
  m_view->bringIntoSight(rectOf(m_core.document().root()));
  m_view->bringIntoSight(focusRect());
}

void CanvasParts::fitAll() {
  // The first call shows a readable part. A second call shows the whole query.
  const bool again = m_keepsFit && m_view->zoom() <= kLeastFitZoom;
  fit();
  if (again) m_view->fit(m_scene.contentRect());
}

void CanvasParts::fit() {
  m_core.stackAll();
  fitReadable();
  m_sayCut.start();
}

QRectF CanvasParts::rectOf(NodeId id) const {
  const Rect* rect = m_core.rectOf(id);
  if (rect == nullptr) {
    const Stack* stack = m_core.stacks().of(id);
    rect = stack == nullptr ? nullptr : m_core.rectOf(stack->members.front());
  }
  return rect == nullptr ? QRectF() : toRect(*rect);
}

QRectF CanvasParts::focusRect() const {
  QRectF running;
  for (const NodeId id : m_running) running |= rectOf(id);
  if (!running.isNull()) return running;
  const QRectF selected = rectOf(m_core.current());
  return selected.isNull() ? rectOf(m_core.document().root()) : selected;
}

void CanvasParts::openStack(NodeId first) {
  const Stack* found = m_core.stacks().at(first);
  if (found == nullptr) return;
  const Stack stack = *found;
  m_keepsFit = false;
  const QPointF held = m_view->mapFromScene(rectOf(first).topLeft());
  m_core.open(stack);
  m_core.select({first});
  // If the whole query is readable, the canvas shows all of it.
  if (m_view->fittingZoom(m_scene.contentRect()) >= kLeastFitZoom) return fitReadable();
  // The first member appears where the stack was.
  if (m_view->zoom() < kReadableZoom) m_view->setZoom(kReadableZoom, held);
  const QPointF now = m_view->mapFromScene(rectOf(first).topLeft());
  m_view->panBy((held - now).toPoint());
}

void CanvasParts::restack(NodeId list) {
  m_core.setSpread(list, false);
  m_core.select({list});
  fitReadable();
}

void CanvasParts::showAdded() {
  const QRectF added = selectionRect();
  if (added.isNull()) return;
  if (m_keepsFit) {
    if (!isWhole()) fitReadable(true);
    m_view->bringIntoSight(added);
    return;
  }
  const QRectF root = rectOf(m_core.document().root());
  const QRectF both = m_view->visibleRect().intersects(root) ? added | root : added;
  constexpr double kAround = 32;  // pixels of the screen, on both sides
  const double fits =
      std::min((m_view->width() - kAround) / both.width(), (m_view->height() - kAround) / both.height());
  if (fits < m_view->zoom()) m_view->setZoom(std::max(fits, kLeastFitZoom));
  m_view->bringIntoSight(both);
  m_view->bringIntoSight(added);
}

void CanvasParts::setPlace(const CanvasPlace& place) {
  m_fitPending = false;
  m_keepsFit = false;
  m_view->setZoom(place.zoom);
  m_view->centerOn(place.center);
  // The canvas can be smaller than at the time when the whole query was visible.
  if (place.isWhole && m_canvas.isVisible() && !isWhole()) fitReadable();
}

bool CanvasParts::isWhole() const {
  return m_core.document().size() > 0 && m_view->visibleRect().contains(m_scene.contentRect());
}

void CanvasParts::setMouse(const CanvasMouse& mouse) {
  m_view->setWheelZooms(mouse.wheelZooms);
  m_gestures.setDragPans(mouse.dragPans);
  m_gestures.setSnaps(mouse.snaps);
}

void CanvasParts::reveal(NodeId id) {
  if (!m_core.document().contains(id)) return;
  std::vector<NodeId> closed;
  for (NodeId at = m_core.document().at(id).parent; at != kNoNode; at = m_core.document().at(at).parent) {
    if (m_core.document().at(at).collapsed) closed.push_back(at);
  }
  if (!closed.empty()) {
    m_core.change(tr("Expand"),
                  [&closed](Document& document) { document::setCollapsed(document, closed, false); });
  }
  m_core.select({id});
  bringSelectionIntoSight();
}

bool CanvasParts::eventFilter(QObject* watched, QEvent* event) {
  if (watched != &m_canvas) return QObject::eventFilter(watched, event);
  switch (event->type()) {
    case QEvent::Resize:
    case QEvent::Show: {
      const QRectF focus = focusRect();
      const bool wasSeen = m_view->visibleRect().intersects(focus);
      layOutOverlays();
      giveRoom();
      fitWhenReady();
      if (m_keepsFit && m_core.document().size() > 0) {
        fitReadable();
      } else if (wasSeen) {
        m_view->bringIntoSight(focusRect());
      }
      break;
    }
    case QEvent::Hide:
      // The message is about a canvas that the user can see.
      m_sayCut.stop();
      if (std::exchange(m_isCutSaid, false)) m_core.say({});
      break;
    case QEvent::FocusIn:
    case QEvent::FocusOut:
      m_scene.setFocused(event->type() == QEvent::FocusIn);
      m_canvas.update();
      break;
    case QEvent::KeyPress:
      if (keyPress(*static_cast<QKeyEvent*>(event))) return true;
      break;
    case QEvent::KeyRelease: {
      const auto* key = static_cast<QKeyEvent*>(event);
      if (key->key() == Qt::Key_Space && !key->isAutoRepeat()) m_gestures.setSpaceHeld(false);
      break;
    }
    case QEvent::ContextMenu:
      showContextMenu(*static_cast<QContextMenuEvent*>(event));
      return true;
    case QEvent::DragEnter:
    case QEvent::DragMove: {
      auto* drag = static_cast<QDragMoveEvent*>(event);
      if (takesDrag(*drag->mimeData())) drag->acceptProposedAction();
      return true;
    }
    case QEvent::Drop: {
      auto* dropped = static_cast<QDropEvent*>(event);
      drop(*dropped->mimeData(), dropped->position());
      dropped->acceptProposedAction();
      return true;
    }
    default:
      break;
  }
  return QObject::eventFilter(watched, event);
}

void CanvasParts::chooseNextBend() {
  const NodeId child = m_core.current();
  const std::size_t count = m_core.document().at(child).bends.size();
  const auto chosen = m_scene.chosenBend();
  m_scene.setChosenBend(
      std::pair(child, chosen && chosen->first == child ? (chosen->second + 1) % count : 0));
}

bool CanvasParts::moveChosenBend(const QKeyEvent& event) {
  const auto chosen = m_scene.chosenBend();
  const document::DocumentNode* node = chosen ? m_core.document().find(chosen->first) : nullptr;
  if (node == nullptr || chosen->second >= node->bends.size()) return false;
  if (event.key() == Qt::Key_Escape) {
    m_scene.setChosenBend({});
    return true;
  }
  const bool isFine = event.modifiers() == Qt::ShiftModifier;
  if (event.modifiers() != Qt::NoModifier && !isFine) return false;
  const double step = isFine ? 1 : kGridStep;
  std::vector<document::Point> bends = node->bends;
  document::Point& bend = bends[chosen->second];
  if (event.key() == Qt::Key_Left)
    bend.x -= step;
  else if (event.key() == Qt::Key_Right)
    bend.x += step;
  else if (event.key() == Qt::Key_Up)
    bend.y -= step;
  else if (event.key() == Qt::Key_Down)
    bend.y += step;
  else
    return false;
  if (m_core.model() == nullptr) return true;
  m_core.model()->change(
      tr("Move reroute point"),
      [&](Document& document) { document::setBends(document, chosen->first, bends); },
      QStringLiteral("bend %1 of %2").arg(chosen->second).arg(chosen->first));
  return true;
}

bool CanvasParts::keyPress(const QKeyEvent& event) {
  if (moveChosenBend(event)) return true;
  const bool extends = event.modifiers() == Qt::ShiftModifier;
  const auto step = [&](Walk to) {
    if (event.modifiers() != Qt::NoModifier && !extends) return false;
    const NodeId next = walk(m_core.document(), m_core.layout(), m_core.current(), to);
    if (next == kNoNode) return true;
    std::vector<NodeId> nodes;
    if (const Stack* stack = m_core.stacks().at(next); stack != nullptr && !extends) {
      // Selects all members. The first member is the drawn one, so it is selected last.
      m_core.select({stack->members.rbegin(), stack->members.rend()});
      bringSelectionIntoSight();
      return true;
    }
    if (extends) {
      nodes = m_core.selection();
      std::erase(nodes, next);
    }
    nodes.push_back(next);
    m_core.select(std::move(nodes));
    bringSelectionIntoSight();
    return true;
  };
  switch (event.key()) {
    case Qt::Key_Left:
      return step(Walk::Left);
    case Qt::Key_Right:
      return step(Walk::Right);
    case Qt::Key_Up:
      return step(Walk::Up);
    case Qt::Key_Down:
      return step(Walk::Down);
    case Qt::Key_Escape:
      if (!m_gestures.cancel()) {
        m_core.select({});
        m_core.selectArea({});
      }
      return true;
    case Qt::Key_Space:
      if (!event.isAutoRepeat()) m_gestures.setSpaceHeld(true);
      return true;
    case Qt::Key_Tab:
    case Qt::Key_Backtab:
      // The add command uses this key, so the key does not move the focus.
      return true;
    default:
      return false;
  }
}

void CanvasParts::layOutOverlays() {
  const QRect room = m_canvas.rect();
  m_view->setGeometry(room);
  m_findBar->move(std::max(kOverlayMargin, (room.width() - m_findBar->width()) / 2), kOverlayMargin);
  placeMinimap();
  m_minimap->raise();
  placeStrip();
  m_strip->raise();
  const int height = m_greeting->heightForWidth(room.width() - 2 * kOverlayMargin);
  m_greeting->setGeometry(kOverlayMargin, (room.height() - height) / 2, room.width() - 2 * kOverlayMargin,
                          height);
  m_findBar->raise();
}

void CanvasParts::updateMinimap() {
  std::vector<Minimap::Shape> shapes;
  shapes.reserve(m_core.layout().size());
  for (const auto& [id, rect] : m_core.layout()) {
    shapes.push_back({.rect = toRect(rect), .selected = m_core.isSelected(id)});
  }
  m_minimap->setShapes(std::move(shapes));
  m_minimap->setSeen(m_view->visibleRect());
  showMinimap();
}

void CanvasParts::showMinimap() {
  // A query that is fully visible needs no overview, and a small canvas has no room for one.
  constexpr int kLeastHeight = 260;
  const bool helps = m_core.document().size() > 0 && m_canvas.height() >= kLeastHeight &&
                     !m_view->visibleRect().contains(m_scene.contentRect());
  if (m_minimapOn && helps) placeMinimap();
  m_minimap->setVisible(m_minimapOn && helps);
}

void CanvasParts::placeMinimap() {
  // While the user moves the view with the minimap, the minimap stays under the pointer.
  if (m_minimap->isVisible() && m_minimap->underMouse()) return;
  const int right = m_canvas.width() - m_minimap->width() - kOverlayMargin;
  const int bottom = m_canvas.height() - m_minimap->height() - kOverlayMargin;
  const std::array corners{QPoint(right, bottom), QPoint(kOverlayMargin, bottom),
                           QPoint(right, kOverlayMargin), QPoint(kOverlayMargin, kOverlayMargin)};
  const auto corner =
      std::ranges::find_if(corners, [&](const QPoint& at) { return isFree(QRect(at, m_minimap->size())); });
  m_minimap->move(corner == corners.end() ? corners.front() : *corner);
}

void CanvasParts::placeStrip() {
  const int wide = std::max(120, m_canvas.width() - 2 * kOverlayMargin);
  const int high = m_strip->height();
  const int bottom = m_canvas.height() - high;
  constexpr int kNarrowMargin = 4;
  const std::array tops{bottom - kOverlayMargin, kOverlayMargin, bottom - kNarrowMargin, kNarrowMargin};
  const auto top =
      std::ranges::find_if(tops, [&](int at) { return isFree(QRect(kOverlayMargin, at, wide, high)); });
  m_strip->setGeometry(kOverlayMargin, top == tops.end() ? tops.front() : *top, wide, high);
}

bool CanvasParts::isFree(const QRect& area) const {
  const QRectF inScene = m_view->viewportTransform().inverted().mapRect(QRectF(area));
  return std::ranges::none_of(
      m_core.layout(), [&inScene](const auto& node) { return toRect(node.second).intersects(inScene); });
}

QRectF CanvasParts::selectionRect() const {
  QRectF all;
  for (const NodeId id : m_core.selection()) {
    const QRectF rect = rectOf(id);
    if (!rect.isNull()) all |= rect;
  }
  return all;
}

void CanvasParts::bringSelectionIntoSight() {
  const Rect* rect = m_core.rectOf(m_core.current());
  if (rect == nullptr || m_view->visibleRect().contains(toRect(*rect))) return;
  m_keepsFit = false;
  m_view->bringIntoSight(toRect(*rect));
}

void CanvasParts::showContextMenu(const QContextMenuEvent& event) {
  if (event.reason() == QContextMenuEvent::Mouse && m_gestures.isActive()) return;
  auto* menu = new QMenu(&m_canvas);
  menu->setAttribute(Qt::WA_DeleteOnClose);
  menu->setToolTipsVisible(true);
  m_bendWanted.reset();
  if (event.reason() == QContextMenuEvent::Mouse) {
    const QPointF at = m_view->mapToScene(m_view->viewport()->mapFromGlobal(event.globalPos()));
    const CanvasHit hit = m_scene.hitAt(at, m_gestures.reach());
    if (hit.kind == CanvasHit::Kind::Wire) m_bendWanted = std::pair(hit.node, at);
    if (hit.kind == CanvasHit::Kind::Bend && m_core.model() != nullptr) {
      QAction* action = menu->addAction(tr("Remove reroute point"));
      connect(action, &QAction::triggered, this, [this, hit] { m_gestures.removeBend(hit.node, hit.input); });
      menu->addSeparator();
    }
  }
  const auto addTo = [&](QMenu* into, const QString& id) {
    const CommandInfo* info = findCommand(id);
    if (info == nullptr) return;
    QAction* action = into->addAction(info->text);
    action->setToolTip(info->help);
    // The window handles these keys. The menu only shows them.
    const QString key = m_core.input() == nullptr ? QString() : m_core.input()->keyOf(id);
    if (!key.isEmpty()) action->setText(info->text + QLatin1Char('\t') + key);
    const CommandHandler* own = m_commands.find(id);
    if (own == nullptr) {
      connect(action, &QAction::triggered, this, [this, id] { Q_EMIT commandWanted(id); });
      return;
    }
    action->setEnabled(own->when());
    connect(action, &QAction::triggered, this, [this, id] { m_canvas.perform(id); });
  };
  const auto add = [&](const QString& id) { addTo(menu, id); };
  // The submenus keep the menu small enough for a small screen.
  const auto addMenu = [&](const QString& title, std::initializer_list<const char*> ids) {
    QMenu* within = menu->addMenu(title);
    within->setToolTipsVisible(true);
    for (const char* id : ids) addTo(within, QString::fromLatin1(id));
    return within;
  };
  const auto addGroup = [&](std::initializer_list<const char*> ids) {
    if (!menu->isEmpty()) menu->addSeparator();
    for (const char* id : ids) add(QString::fromLatin1(id));
  };
  addGroup({"node.add", "node.edit", "node.rename"});
  addMenu(tr("Operator"),
          {"node.replace", "node.wrap", "node.plus-cross", "node.disconnect", "node.make-root"});
  addGroup({"edit.cut", "edit.copy", "edit.paste", "edit.duplicate", "edit.delete", "edit.delete-keep"});
  addGroup({"node.mute", "node.freeze", "node.collapse", "node.stack"});
  menu->addSeparator();
  QMenu* arrange = addMenu(tr("Arrange"), {"node.tidy", "node.frame", "node.note", "node.reroute",
                                           "node.next-bend", "node.straighten"});
  arrange->addSeparator();
  const QString lineUp = subMenuOf(QStringLiteral("node.align-left"));
  for (const CommandInfo& info : commandTable())
    if (subMenuOf(info.id) == lineUp) addTo(arrange, info.id);
  addGroup({"run.run-selected"});
  menu->popup(event.globalPos());
}

}  // namespace spanscope::ui
