// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/input_view.h"

#include "ui/views/common/text_painting.h"
#include "ui/views/common/text_tools.h"

#include <QElapsedTimer>
#include <QHBoxLayout>
#include <QPainter>

#include <algorithm>

namespace spanscope::ui {

namespace {

/// A longer refresh takes too much of the time for a frame.
constexpr qint64 kCalmMilliseconds = 6;
constexpr int kPauseFactor = 4;
constexpr qint64 kLongestPause = 1000;  // milliseconds

}  // namespace

InputView::InputView(InputParts parts, Pace pace, QWidget* parent)
    : View(parent), m_parts(parts), m_pace(pace) {
  m_later.setSingleShot(true);
  connect(&m_later, &QTimer::timeout, this, &InputView::refreshNow);
}

InputView::~InputView() {
  // The editors are destroyed after this object, and lose the focus then. Signals of the editors must not
  // reach this object.
  qDeleteAll(findChildren<DocumentUndo*>());
  for (QWidget* child : findChildren<QWidget*>()) child->disconnect(this);
}

bool InputView::isShown(const ViewInput& input) const {
  if (!m_input) return false;
  const ViewInput& shown = *m_input;
  if (shown.selection != input.selection || shown.theme != input.theme ||
      shown.tokenizer != input.tokenizer || shown.tokensCounted != input.tokensCounted ||
      shown.keys != input.keys)
    return false;
  const bool readsDocument =
      m_parts.testFlag(InputPart::Document) || (m_parts.testFlag(InputPart::Model) && m_model == nullptr);
  if (readsDocument && shown.document != input.document) return false;
  if (m_parts.testFlag(InputPart::Trace) &&
      (shown.trace != input.trace || shown.position != input.position || shown.paths != input.paths ||
       shown.records != input.records || shown.listsLater != input.listsLater))
    return false;
  if (m_parts.testFlag(InputPart::Model) && (shown.models != input.models || shown.devices != input.devices))
    return false;
  if (m_parts.testFlag(InputPart::WholeTrace) && m_traceSize != input.trace->size()) return false;
  if (m_parts.testFlag(InputPart::Replay) && shown.replay != input.replay) return false;
  if (m_parts.testFlag(InputPart::Measured) &&
      (shown.measured != input.measured || shown.models != input.models))
    return false;
  return !m_parts.testFlag(InputPart::Prediction) ||
         (shown.prediction == input.prediction && shown.knownServers.get() == input.knownServers.get());
}

void InputView::setInput(const ViewInput& input) {
  const bool isOther = !isShown(input);
  // A document that the model hides now is needed when the model is gone.
  if (isOther || m_parts.testFlag(InputPart::Model)) {
    m_input = input;
    m_traceSize = input.trace->size();
  }
  if (isOther) markStale();
}

void InputView::setModel(DocumentModel* model) {
  if (model == m_model) return;
  const bool reads = m_parts.testFlag(InputPart::Model);
  if (m_model != nullptr) m_model->disconnect(this);
  m_model = model;
  if (m_model != nullptr && reads) connect(m_model, &DocumentModel::changed, this, &InputView::markStale);
  modelChanged();
  if (reads) markStale();
}

const document::Document& InputView::document() const {
  static const document::Document empty;
  if (m_model != nullptr) return m_model->document();
  return m_input && m_input->document ? *m_input->document : empty;
}

void InputView::markStale() {
  m_isStale = true;
  if (isVisible() && !m_later.isActive()) refreshNow();
}

QHBoxLayout* InputView::titleRow() {
  m_titleControls = std::make_unique<QWidget>();
  auto* row = new QHBoxLayout(m_titleControls.get());
  row->setContentsMargins(0, 0, 0, 0);
  row->setSpacing(2 * kSpace);
  return row;
}

void InputView::ensureFresh() {
  const bool isReady = m_input.has_value() || m_parts.testFlag(InputPart::Model);
  if (!m_isStale || !isReady) return;
  m_isStale = false;
  QElapsedTimer clock;
  clock.start();
  refresh();
  const qint64 taken = clock.elapsed();
  if (m_pace == Pace::MayWait && taken > kCalmMilliseconds)
    m_later.start(static_cast<int>(std::min(taken * kPauseFactor, kLongestPause)));
}

void InputView::refreshNow() {
  if (isVisible()) ensureFresh();
}

void InputView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  refreshNow();
}

Selection InputView::selectionOf(RunId run, RequestId request, const NodePath& node) const {
  Selection selection;
  if (m_input) {
    selection = m_input->selection;
    selection.block.reset();
    selection.token.reset();
    selection.physical = kNullBlock;
    if (const document::NodeId id = m_input->nodeOf(run, node); id != document::kNoNode)
      selection.nodes = {id};
  }
  selection.request = request;
  return selection;
}

void InputView::wantNode(document::NodeId node) {
  Selection wanted;
  wanted.nodes = {node};
  Q_EMIT selectionWanted(wanted);
}

bool RunView::paintIfEmpty(QPainter& painter, const QSize& size) const {
  const QString text = emptyText();
  if (text.isEmpty()) return false;
  const QRect area(QPoint(), size);
  painter.fillRect(area, theme().color(Role::Surface));
  paintEmptyText(painter, area, text, theme());
  return true;
}

void RunView::paintEvent(QPaintEvent* /*event*/) {
  QPainter painter(this);
  if (!paintIfEmpty(painter, size())) painter.fillRect(rect(), theme().color(Role::Surface));
}

}  // namespace spanscope::ui
