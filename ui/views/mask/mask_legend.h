// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/block_painter.h"
#include "ui/views/mask/mask_model.h"

#include <QWidget>

#include <vector>

namespace spanscope::ui {

/// Explains the patterns of a mask, and says what it leaves out.
class MaskLegend : public QWidget {
  Q_OBJECT
 public:
  explicit MaskLegend(QWidget* parent = nullptr);

  /// `isBrief` shortens the words, for a low dock.
  void setContent(const MaskModel& model, MaskShown shown, const Theme& theme, bool isBrief = false);
  QSize sizeHint() const override { return {200, heightForWidth(std::max(width(), 200))}; }
  QSize minimumSizeHint() const override { return {0, 0}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  void paint(QPainter& painter, const QRect& area) const;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  enum class Sign { None, Seen, Reused, Unseen, OnlyFull, State };
  struct Sample {
    Sign sign = Sign::None;
    QString text;
    BlockRole state = BlockRole::Free;  ///< of the rows that State stands for
    bool operator==(const Sample&) const = default;
  };
  void paintSign(QPainter& painter, const QRect& box, const Sample& sample) const;
  /// Lays out the samples, and paints them if `painter` is not null. Returns their height.
  int flow(QPainter* painter, const QRect& area) const;

  std::vector<Sample> m_samples;
  std::size_t m_hue = 0;
  BlockPainter m_painter;
};

}  // namespace spanscope::ui
