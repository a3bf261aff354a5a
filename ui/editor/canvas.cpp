// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/canvas.h"

#include "engine/query/node_parts.h"
#include "engine/workbench/document/edits.h"
#include "ui/commands/command_table.h"
#include "ui/editor/add_rules.h"
#include "ui/editor/canvas_core.h"
#include "ui/editor/canvas_parts.h"
#include "ui/editor/clipboard.h"
#include "ui/editor/node_look.h"

#include <QMimeData>
#include <QPainter>

#include <algorithm>
#include <utility>

namespace spanscope::ui {

struct Canvas::Impl {
  explicit Impl(Canvas& canvas) : parts(canvas) {}
  CanvasParts parts;
};

Canvas::Canvas(QWidget* parent) : QWidget(parent) {
  installCanvasAccessibility();
  setFocusPolicy(Qt::StrongFocus);
  setAcceptDrops(true);
  setAccessibleName(tr("Canvas"));
  m_impl = std::make_unique<Impl>(*this);
  CanvasCore& core = m_impl->parts.core();
  connect(&core, &CanvasCore::selectionWanted, this, &Canvas::selectionWanted);
  connect(&core, &CanvasCore::messageWanted, this, &Canvas::messageWanted);
  connect(&core, &CanvasCore::filesPasted, this, &Canvas::filesDropped);
  connect(&m_impl->parts, &CanvasParts::editWanted, this, &Canvas::editWanted);
  connect(&m_impl->parts, &CanvasParts::commandWanted, this, &Canvas::commandWanted);
  connect(&m_impl->parts, &CanvasParts::filesDropped, this, &Canvas::filesDropped);
}

Canvas::~Canvas() = default;

void Canvas::setModel(DocumentModel* model) {
  m_impl->parts.setModel(model);
}

void Canvas::useServers(std::shared_ptr<const KnownServers> servers) {
  m_impl->parts.core().useServers(std::move(servers));
}

void Canvas::setInput(const ViewInput& input) {
  const QString add = input.keyOf(QStringLiteral("node.add"));
  const QString description =
      add.isEmpty() ? tr("The query as a tree. Arrow keys move from node to node.")
                    : tr("The query as a tree. Arrow keys move from node to node. %1 adds a node.").arg(add);
  if (description != accessibleDescription()) setAccessibleDescription(description);
  m_impl->parts.core().setInput(input);
}

const CommandHandlers& Canvas::commands() const {
  return m_impl->parts.commands();
}

// NOLINTNEXTLINE(readability-make-member-function-const): it changes what the canvas shows.
bool Canvas::perform(const QString& command) {
  return commands().perform(command);
}

bool Canvas::canPerform(const QString& command) const {
  return commands().can(command);
}

void Canvas::reveal(document::NodeId node) {
  m_impl->parts.reveal(node);
}

void Canvas::showApart(document::NodeId node) {
  CanvasCore& core = m_impl->parts.core();
  if (const Stack* stack = core.stacks().of(node)) core.setSpread(stack->parent, true);
}

bool Canvas::showNamed(const std::vector<document::NodeId>& nodes) {
  return m_impl->parts.core().setNamed({nodes.begin(), nodes.end()});
}

QRect Canvas::placeOf(document::NodeId node) const {
  const QRectF rect = m_impl->parts.rectOf(node);
  if (rect.isNull()) return {};
  const CanvasView& view = m_impl->parts.view();
  const QRect inView = view.mapFromScene(rect).boundingRect();
  return {view.viewport()->mapTo(this, inView.topLeft()), inView.size()};
}

void Canvas::addDocuments(const std::vector<TextFile>& files) {
  m_impl->parts.addDocuments(files);
}

CanvasPlace Canvas::place() const {
  const CanvasView& view = m_impl->parts.view();
  return {.zoom = view.zoom(),
          .center = view.centerPoint(),
          .isFitted = m_impl->parts.keepsFit(),
          .isWhole = m_impl->parts.isWhole()};
}

void Canvas::setPlace(const CanvasPlace& place) {
  m_impl->parts.setPlace(place);
}

void Canvas::setMostFitZoom(double zoom) {
  m_impl->parts.view().setMostFit(zoom);
}

void Canvas::setMouse(const CanvasMouse& mouse) {
  m_impl->parts.setMouse(mouse);
}

void Canvas::fit() {
  m_impl->parts.fit();
}

void Canvas::paintTo(QPainter& painter, const QSize& size) {
  CanvasScene& scene = m_impl->parts.scene();
  constexpr double kMargin = 24;
  m_impl->parts.core().setRoom((size.height() - 2 * kMargin) / kReadableZoom);
  const QRectF content = scene.contentRect().adjusted(-kMargin, -kMargin, kMargin, kMargin);
  painter.fillRect(QRect(QPoint(), size), scene.style().canvas);
  const double zoom = std::min({size.width() / content.width(), size.height() / content.height(), 2.0});
  const QSizeF shown = content.size() * zoom;
  const QRectF target(QPointF((size.width() - shown.width()) / 2, (size.height() - shown.height()) / 2),
                      shown);
  scene.render(&painter, target, content, Qt::KeepAspectRatio);
}

// The functions of CanvasParts that carry out commands with a popup, a line edit or the view.

using document::Document;
using document::kNoNode;
using document::NodeId;
using document::Point;
using document::Rect;

void CanvasParts::addViewCommands() {
  const auto editable = [this] { return m_core.model() != nullptr; };
  const auto hasNode = [this] { return m_core.document().contains(m_core.current()); };
  const auto hasAny = [this] { return m_core.document().size() > 0; };
  m_commands.add("edit.find", hasAny, [this] { openFind(); });
  m_commands.addWithArgument("node.add", editable, [this](const QString& op) {
    if (op.isEmpty())
      openAddForSelection();
    else
      addNamed(op);
  });
  m_commands.add(
      "node.edit", [this, hasNode] { return hasNode() || m_core.selectedArea().kind != AreaRef::Kind::None; },
      [this, hasNode] {
        if (m_core.selectedStack() != nullptr) {
          openStack(m_core.current());
        } else if (hasNode()) {
          Q_EMIT editWanted(m_core.current());
        } else {
          renameArea(m_core.selectedArea());
        }
      });
  m_commands.add(
      "node.rename",
      [this, editable, hasNode] {
        return editable() && (hasNode() || m_core.selectedArea().kind != AreaRef::Kind::None);
      },
      [this] { rename(); });
  m_commands.add(
      "node.replace", [editable, hasNode] { return editable() && hasNode(); },
      [this] {
        AddPlace place{.kind = AddPlace::Kind::Replace, .node = m_core.current(), .index = 0, .at = {}};
        const Rect* rect = m_core.rectOf(place.node);
        const QPointF at = rect == nullptr ? m_view->centerPoint() : QPointF(rect->x, rect->y + rect->height);
        openAdd(place, m_view->mapFromScene(at));
      });
  const auto canWrap = [this, editable] {
    return editable() && !wrappingOperators(m_core.document(), m_core.selection()).empty();
  };
  m_commands.addWithArgument("node.wrap", canWrap, [this](const QString& op) {
    const AddPlace place{.kind = AddPlace::Kind::Wrap,
                         .node = m_core.current(),
                         .index = 0,
                         .at = {},
                         .nodes = m_core.selection()};
    const QRectF rect = rectOf(m_core.current());
    const QPointF at = m_view->mapFromScene(rect.isNull() ? m_view->centerPoint() : rect.bottomLeft());
    if (op.isEmpty()) {
      openAdd(place, at);
    } else {
      m_addPlace = place;
      m_addPoint = at;
      add(op);
    }
  });
  const auto bent = [this, editable] {
    const document::DocumentNode* node = m_core.document().find(m_core.current());
    return editable() && node != nullptr && m_scene.wireOf(m_core.current()) != nullptr &&
           m_core.stacks().of(m_core.current()) == nullptr && node->bends.size() < document::kMostBends;
  };
  m_commands.add("node.reroute", bent, [this] {
    const auto wanted = std::exchange(m_bendWanted, std::nullopt);
    const NodeId child = m_core.current();
    m_gestures.addBend(child,
                       wanted && wanted->first == child ? wanted->second : m_scene.wireOf(child)->middle());
  });
  m_commands.add(
      "node.next-bend",
      [this, editable] {
        const document::DocumentNode* node = m_core.document().find(m_core.current());
        return editable() && node != nullptr && !node->bends.empty() &&
               m_scene.wireOf(m_core.current()) != nullptr && m_core.stacks().of(m_core.current()) == nullptr;
      },
      [this] { chooseNextBend(); });
  m_commands.add("view.zoom-in", [this] { zoomBy(kZoomStep); });
  m_commands.add("view.zoom-out", [this] { zoomBy(1 / kZoomStep); });
  m_commands.add("view.zoom-reset", [this] {
    m_keepsFit = false;
    m_view->setZoom(1);
  });
  m_commands.add("view.fit-all", hasAny, [this] { fitAll(); });
  m_commands.add(
      "node.stack", [this] { return m_core.selectedStack() != nullptr || spreadList() != kNoNode; },
      [this] {
        if (m_core.selectedStack() != nullptr) {
          openStack(m_core.current());
        } else {
          restack(spreadList());
        }
      });
  m_commands.add(
      "view.fit-selection", [this] { return !m_core.selection().empty(); },
      [this] {
        m_keepsFit = false;
        m_view->fit(selectionRect());
      });
  m_commands.add("view.prediction", [this] { m_core.setPredictionsShown(!m_core.arePredictionsShown()); });
  m_commands.add("view.minimap", [this] {
    m_minimapOn = !m_minimapOn;
    updateMinimap();
  });
}

NodeId CanvasParts::spreadList() const {
  const document::DocumentNode* node = m_core.document().find(m_core.current());
  if (node == nullptr) return kNoNode;
  if (m_core.isSpread(m_core.current())) return m_core.current();
  return m_core.isSpread(node->parent) ? node->parent : kNoNode;
}

void CanvasParts::zoomBy(double factor) {
  m_keepsFit = false;
  m_view->setZoom(m_view->zoom() * factor);
}

void CanvasParts::openAdd(const AddPlace& place, QPointF viewportPoint) {
  if (m_core.model() == nullptr) return;
  const std::vector<std::string> operators = fittingOperators(m_core.document(), place);
  if (operators.empty()) {
    m_core.say(place.kind == AddPlace::Kind::Wrap ? whyUnfit(m_core.document(), place, "plus")
                                                  : tr("No operator fits there"));
    return;
  }
  m_addPlace = place;
  m_addPoint = viewportPoint;
  m_popup->setAccessibleName(place.kind == AddPlace::Kind::Replace ? tr("Replace operator")
                             : place.kind == AddPlace::Kind::Wrap  ? tr("Wrap in an operator")
                                                                   : tr("Add a node"));
  m_popup->open(operators, describePlace(m_core.document(), place), viewportPoint.toPoint(), m_core.theme(),
                [this](const std::string& op) { return whyUnfit(m_core.document(), m_addPlace, op); });
}

AddPlace CanvasParts::placeForSelection() const {
  const std::vector<NodeId> tops = document::topmost(m_core.document(), m_core.selection());
  if (tops.size() < 2 || m_core.selectedStack() != nullptr)
    return placeFor(m_core.document(), m_core.current());
  return {.kind = AddPlace::Kind::Wrap,
          .node = m_core.current(),
          .index = 0,
          .at = {},
          .nodes = m_core.selection()};
}

void CanvasParts::openAddForSelection() {
  // The command has no point, so the tidy layout finds a free place for a node without a parent.
  const AddPlace place = placeForSelection();
  QPointF at = m_view->centerPoint();
  if (const Rect* rect = m_core.rectOf(m_core.current()))
    at = QPointF(rect->x + 24, rect->y + rect->height + 8);
  openAdd(place, m_view->mapFromScene(at));
}

AddPlace CanvasParts::placeAt(QPointF scenePoint) const {
  const CanvasHit hit = m_scene.hitAt(scenePoint, m_gestures.reach());
  if (hit.kind == CanvasHit::Kind::Wire)
    return {.kind = AddPlace::Kind::Above, .node = hit.node, .index = 0, .at = {}};
  if (hit.node != kNoNode) return placeFor(m_core.document(), hit.node);
  return {.kind = AddPlace::Kind::Root,
          .node = kNoNode,
          .index = 0,
          .at = Point{.x = scenePoint.x(), .y = scenePoint.y()}};
}

void CanvasParts::addNamed(const QString& op, std::optional<QPointF> viewportPoint) {
  if (m_core.model() == nullptr) return;
  AddPlace place =
      viewportPoint ? placeAt(m_view->mapToScene(viewportPoint->toPoint())) : placeForSelection();
  // An operator without inputs cannot wrap nodes, so it goes next to the current node.
  if (place.kind == AddPlace::Kind::Wrap &&
      document::arityOf(document::makeOperator(op.toStdString())).most == 0)
    place = placeFor(m_core.document(), m_core.current());
  if (const QString why = whyUnfit(m_core.document(), place, op.toStdString()); !why.isEmpty()) {
    m_core.say(why);
    return;
  }
  m_addPlace = place;
  m_addPoint = viewportPoint.value_or(QPointF(m_view->viewport()->rect().center()));
  add(op);
}

bool CanvasParts::takesDrag(const QMimeData& data) const {
  return data.hasUrls() ||
         (data.hasFormat(QLatin1String(document::kOperatorMimeType)) && m_core.model() != nullptr);
}

void CanvasParts::drop(const QMimeData& data, QPointF viewportPoint) {
  if (data.hasFormat(QLatin1String(document::kOperatorMimeType))) {
    addNamed(QString::fromUtf8(data.data(QLatin1String(document::kOperatorMimeType))), viewportPoint);
    m_view->setFocus();
    return;
  }
  if (const QStringList paths = localFiles(data); !paths.isEmpty()) Q_EMIT filesDropped(paths);
}

void CanvasParts::addDocuments(const std::vector<TextFile>& files) {
  if (m_core.model() == nullptr || files.empty()) return;
  const bool wasEmpty = m_core.document().size() == 0;
  std::vector<NodeId> added;
  NodeId question = kNoNode;
  const QString name = files.size() == 1 ? tr("Add %1").arg(QString::fromStdString(files.front().name))
                                         : tr("Add %1 documents").arg(files.size());
  m_core.change(name, [&](Document& next) {
    // In an empty document, the documents need a question too.
    if (wasEmpty) question = startQuestion(next);
    added = ui::addDocuments(next, files, m_core.current(), m_core.stacks());
  });
  m_core.select(wasEmpty ? std::vector{question} : added);
  m_core.traceAdded();
  if (wasEmpty) fitWhenReady();
}

void CanvasParts::add(const QString& op) {
  NodeId added = kNoNode;
  const bool wasEmpty = m_core.document().size() == 0;
  const bool replaces = m_addPlace.kind == AddPlace::Kind::Replace;
  const bool wraps = m_addPlace.kind == AddPlace::Kind::Wrap;
  m_core.change(replaces ? tr("Replace operator")
                : wraps  ? tr("Wrap in %1").arg(op)
                         : tr("Add %1").arg(op),
                [&](Document& document) { added = addOperator(document, m_addPlace, op.toStdString()); });
  if (added == kNoNode) {
    m_core.say(tr("The operator no longer fits there"));
    return;
  }
  m_core.select({added});
  if (wasEmpty) {
    // The first node appears at the point that the user chose, at zoom 1.
    m_view->setZoom(1);
    if (const Rect* rect = m_core.rectOf(added)) {
      const QPointF size(m_view->viewport()->width(), m_view->viewport()->height());
      m_view->centerOn(QPointF(rect->x + rect->width / 2, rect->y + rect->height / 2) + size / 2 -
                       m_addPoint);
    }
  }
  showAdded();
  if (replaces || wraps || m_core.document().at(added).own.as<query::Message>() == nullptr) return;
  // The call is queued, because the popup must first return the focus.
  QMetaObject::invokeMethod(
      this, [this, added] { editInPlace(added); }, Qt::QueuedConnection);
}

QRect CanvasParts::textPlaceOf(NodeId message) const {
  constexpr double kTitle = 26;
  constexpr double kSide = 8;
  constexpr QSize kLeast(220, 60);
  const QRectF text = rectOf(message).adjusted(kSide, kTitle, -kSide, -kSide);
  const QRect area = m_view->mapFromScene(text).boundingRect();
  return {area.topLeft(), area.size().expandedTo(kLeast)};
}

void CanvasParts::editInPlace(NodeId message) {
  const document::DocumentNode* node = m_core.document().find(message);
  if (m_core.model() == nullptr || node == nullptr || !m_canvas.isVisible() || m_core.current() != message)
    return;
  const std::string* text = query::textOf(node->own);
  if (text == nullptr) return;
  const auto typed = [this, message](const QString& now) {
    if (m_core.model() == nullptr || !m_core.document().contains(message)) return;
    m_core.model()->change(
        tr("Edit text"),
        [&](Document& document) {
          query::Node own = document.at(message).own;
          if (std::string* said = query::textOf(own)) *said = now.toStdString();
          document::setOwn(document, message, std::move(own));
        },
        QStringLiteral("text of node %1").arg(message));
  };
  const auto ended = [this] {
    m_edited = kNoNode;
    if (m_core.model() != nullptr) m_core.model()->endMerge();
  };
  const auto passes = [this](const QKeySequence& key) {
    const auto& table = commandTable();
    return std::any_of(table.begin(), table.end(), [&](const CommandInfo& info) {
      if (info.scope != CommandScope::Window) return false;
      const QString shown = m_core.input() == nullptr ? QString() : m_core.input()->keyOf(info.id);
      return key == QKeySequence(shown, QKeySequence::NativeText) ||
             info.keys.contains(key.toString(QKeySequence::PortableText));
    });
  };
  m_noteEdit->open(textPlaceOf(message), QString::fromStdString(*text), m_core.theme(),
                   {.hint = tr("Text of the message"),
                    .keys = tr("Escape returns to the canvas"),
                    .typed = typed,
                    .ended = ended,
                    .passes = passes});
  m_edited = message;
}

void CanvasParts::followEdited() {
  if (m_edited == kNoNode) return;
  const document::DocumentNode* node = m_core.document().find(m_edited);
  const std::string* text = node == nullptr ? nullptr : query::textOf(node->own);
  if (text == nullptr || rectOf(m_edited).isNull()) {
    m_noteEdit->end();
    return;
  }
  m_noteEdit->take(QString::fromStdString(*text));
  m_noteEdit->place(textPlaceOf(m_edited));
}

void CanvasParts::rename() {
  if (m_core.selectedArea().kind != AreaRef::Kind::None) {
    renameArea(m_core.selectedArea());
    return;
  }
  const NodeId id = m_core.current();
  const Rect* rect = m_core.rectOf(id);
  if (rect == nullptr) return;
  bringSelectionIntoSight();
  const QRect area = m_view->mapFromScene(QRectF(rect->x, rect->y, rect->width, 28)).boundingRect();
  m_lineEdit->open(area, QString::fromStdString(m_core.document().at(id).name), tr("Name of the node"),
                   m_core.theme(), [this, id](const QString& text) {
                     m_core.change(tr("Rename"), [&](Document& document) {
                       document::setName(document, id, text.trimmed().toStdString());
                     });
                   });
}

void CanvasParts::renameArea(AreaRef ref) {
  if (m_core.model() == nullptr) return;
  const auto placeOf = [this](const Rect& area, double height) {
    return m_view->mapFromScene(QRectF(area.x, area.y, area.width, height)).boundingRect();
  };
  for (const document::Frame& frame : m_core.document().frames) {
    if (ref.kind != AreaRef::Kind::Frame || frame.id != ref.id) continue;
    m_lineEdit->open(placeOf(frame.area, 28), QString::fromStdString(frame.title), tr("Title of the frame"),
                     m_core.theme(), [this, id = ref.id](const QString& typed) {
                       m_core.change(tr("Rename frame"), [&](Document& document) {
                         for (document::Frame& own : document.frames)
                           if (own.id == id) own.title = typed.toStdString();
                       });
                     });
    return;
  }
  for (const document::Note& note : m_core.document().notes) {
    if (ref.kind != AreaRef::Kind::Note || note.id != ref.id) continue;
    const auto typed = [this, id = ref.id](const QString& now) {
      if (m_core.model() == nullptr) return;
      m_core.model()->change(
          tr("Edit note"),
          [&](Document& document) {
            for (document::Note& own : document.notes)
              if (own.id == id) own.text = now.toStdString();
          },
          QStringLiteral("text of note %1").arg(id));
    };
    m_noteEdit->open(placeOf(note.area, note.area.height), QString::fromStdString(note.text), m_core.theme(),
                     {.hint = tr("Text of the note"),
                      .keys = tr("Ctrl+Enter saves the text. Escape discards the text"),
                      .typed = typed,
                      .ended =
                          [this] {
                            if (m_core.model() != nullptr) m_core.model()->endMerge();
                          },
                      .reverts = true});
    return;
  }
}

void CanvasParts::openFind() {
  m_hits.clear();
  m_findBar->open(m_core.theme());
}

void CanvasParts::find(const QString& text) {
  m_hits.clear();
  m_hit = 0;
  if (!text.isEmpty()) {
    const Document& document = m_core.document();
    for (const NodeId top : document.tops()) {
      for (const NodeId id : document.subtree(top)) {
        if (nodeSearchText(document.at(id)).contains(text, Qt::CaseInsensitive)) m_hits.push_back(id);
      }
    }
    // The search starts at the current node, so that the match stays the same while the user types.
    const auto at = std::find(m_hits.begin(), m_hits.end(), m_core.current());
    if (at != m_hits.end()) m_hit = static_cast<std::size_t>(at - m_hits.begin());
  }
  m_findBar->showHits(m_hit + 1, m_hits.size());
  if (!m_hits.empty()) reveal(m_hits[m_hit]);
}

void CanvasParts::findNext(bool backwards) {
  std::erase_if(m_hits, [this](NodeId id) { return !m_core.document().contains(id); });
  if (m_hits.empty()) return;
  m_hit = (m_hit + (backwards ? m_hits.size() - 1 : 1)) % m_hits.size();
  m_findBar->showHits(m_hit + 1, m_hits.size());
  reveal(m_hits[m_hit]);
}

}  // namespace spanscope::ui
