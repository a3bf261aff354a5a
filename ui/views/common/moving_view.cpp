// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/views/common/moving_view.h"

#include <QWidget>

namespace spanscope::ui {

void MovingView::setMoment(const Moment& moment) {
  if (moment.first != m_moment.first || moment.last != m_moment.last) stopMotion();
  m_moment = moment;
  if (m_self->isVisible()) showMotion();
}

}  // namespace spanscope::ui
