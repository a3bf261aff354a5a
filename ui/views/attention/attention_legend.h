// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/attention/attention_model.h"

#include <QWidget>

namespace spanscope::ui {

/// Explains the hatches and pale rows that the map has.
class AttentionLegend : public QWidget {
  Q_OBJECT
 public:
  using QWidget::QWidget;

  void setContent(const AttentionModel& model, const Theme& theme,
                  AttentionScale scale = AttentionScale::Linear);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  void paint(QPainter& painter, const QRect& area) const;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  enum class Hatch { None, Forbidden, Outside, Missing, Pale, Sink };
  struct Sample {
    Hatch hatch = Hatch::None;
    QString text;
    bool operator==(const Sample&) const = default;
  };
  /// Lays out the samples, and paints them if `painter` is not null. Returns their height.
  int flow(QPainter* painter, const QRect& area) const;

  std::vector<Sample> m_samples;
  Theme m_theme;
};

}  // namespace spanscope::ui
