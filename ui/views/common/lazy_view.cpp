// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/lazy_view.h"

namespace spanscope::ui {

void LazyView::setInput(const ViewInput& input) {
  const bool same = m_input && m_input->document == input.document && m_input->trace == input.trace &&
                    m_input->position == input.position && m_traceSize == input.trace->size() &&
                    m_input->selection == input.selection && m_input->theme == input.theme &&
                    m_input->tokenizer == input.tokenizer && m_input->paths == input.paths;
  if (same) return;
  m_input = input;
  m_traceSize = input.trace->size();
  m_stale = true;
  if (isVisible()) ensureFresh();
}

void LazyView::ensureFresh() {
  if (!m_stale || !m_input) return;
  m_stale = false;
  refresh();
}

void LazyView::showEvent(QShowEvent* event) {
  ensureFresh();
  View::showEvent(event);
}

}  // namespace spanscope::ui
