// SPDX-License-Identifier: GPL-3.0-or-later
// The controls in the title bar of the pool: a legend of its colours, and the choice between state, age and
// the pool over time.
#pragma once

#include "ui/views/pool/pool_model.h"

#include <QWidget>

class QComboBox;

namespace spanscope::ui {

class BlockLegend;
class AgeScale;

class PoolControls : public QWidget {
  Q_OBJECT
 public:
  explicit PoolControls(QWidget* parent = nullptr);

  void showShade(PoolShade shade, double oldest, bool anyLoaded, const Theme& theme);
  /// The plot has a legend of its own.
  void showOverTime();

 Q_SIGNALS:
  void shadeWanted(spanscope::ui::PoolShade shade);
  void overTimeWanted();

 private:
  BlockLegend* m_legend;
  AgeScale* m_scale;
  QComboBox* m_choice;
};

}  // namespace spanscope::ui
