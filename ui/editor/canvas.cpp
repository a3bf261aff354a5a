// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/editor/canvas.h"

#include "ui/editor/canvas_accessible.h"
#include "ui/editor/canvas_parts.h"
#include "ui/editor/card_plan.h"

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
      add.isEmpty() ? tr("The query as a tree. Arrow keys walk along it.")
                    : tr("The query as a tree. Arrow keys walk along it, %1 adds a node.").arg(add);
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

}  // namespace spanscope::ui
