// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/run_view.h"

#include <QElapsedTimer>
#include <QPainter>

#include <algorithm>

namespace spanscope::ui {
namespace {

/// Above this a refresh would take more than a fair part of a frame.
constexpr qint64 kCalmMilliseconds = 6;
constexpr int kPauseFactor = 4;

bool sameInput(const ViewInput& a, const ViewInput& b) {
  return a.trace == b.trace && a.position == b.position && a.document == b.document && a.theme == b.theme &&
         a.tokenizer == b.tokenizer && a.selection == b.selection && a.paths == b.paths &&
         a.forecast == b.forecast && a.forecastBefore == b.forecastBefore &&
         a.forecastIsPending == b.forecastIsPending;
}

}  // namespace

RunView::RunView(QWidget* parent) : View(parent) {
  m_later.setSingleShot(true);
  connect(&m_later, &QTimer::timeout, this, &RunView::refreshNow);
}

void RunView::setInput(const ViewInput& input) {
  const bool grown = usesWholeTrace() && input.trace->size() != m_traceSize;
  if (m_input && !grown && sameInput(*m_input, input)) return;
  m_input = input;
  m_traceSize = input.trace->size();
  m_stale = true;
  if (isVisible() && !m_later.isActive()) refreshNow();
}

void RunView::refreshNow() {
  if (!m_stale || !m_input || !isVisible()) return;
  m_stale = false;
  QElapsedTimer clock;
  clock.start();
  refresh();
  const qint64 taken = clock.elapsed();
  if (mayWait() && taken > kCalmMilliseconds)
    m_later.start(static_cast<int>(std::min<qint64>(taken * kPauseFactor, 1000)));
}

void RunView::showEvent(QShowEvent* event) {
  View::showEvent(event);
  refreshNow();
}

Selection RunView::selectionOf(RunId run, RequestId request, const NodePath& node) const {
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

void paintEmptyText(QPainter& painter, const QRect& area, const QString& text, const Theme& theme) {
  painter.setFont(theme.interfaceFont());
  painter.setPen(theme.color(Role::TextThird));
  painter.drawText(area.adjusted(4 * kSpace, kSpace, -4 * kSpace, -kSpace),
                   Qt::AlignCenter | Qt::TextWordWrap, text);
}

}  // namespace spanscope::ui
