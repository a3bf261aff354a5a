// SPDX-License-Identifier: GPL-3.0-or-later
// Paints the alternatives at one token of an answer as two facing bars. Open this file to change how the
// alternatives look.
#pragma once

#include "ui/views/common/scrolled_items.h"
#include "ui/views/next_token/next_token_model.h"

#include <vector>

namespace spanscope::ui {

/// Shows a row for each alternative at the shown place, with the token in the middle. The two bars are
/// probabilities, 0 to 1. The left bar is this run, and the right bar is the compared one.
class FacingBars : public ScrolledItems {
  Q_OBJECT
 public:
  explicit FacingBars(QWidget* parent = nullptr);

  void setContent(const NextTokenModel& model, const Theme& theme);

 protected:
  std::vector<QRect> layOut(int width) const override;
  void paintItems(QPainter& painter, const std::vector<QRect>& places, const QRect& visible) const override;

 private:
  NextTokenModel m_model;
};

}  // namespace spanscope::ui
