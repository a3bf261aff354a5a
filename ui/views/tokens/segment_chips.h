// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the names of a prompt's segments in a title bar, each on the tint of its segment.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/segment_names.h"

#include <QRect>
#include <QWidget>

#include <cstddef>
#include <vector>

namespace spanscope::ui {

class SegmentChips : public QWidget {
  Q_OBJECT
 public:
  explicit SegmentChips(QWidget* parent = nullptr);

  void showNames(std::vector<SegmentName> names, const Theme& theme);

  QSize sizeHint() const override;
  QSize minimumSizeHint() const override;

 Q_SIGNALS:
  void chosen(std::size_t chip);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;

 private:
  /// The places of the chips that fit into the width. The number of the others is shown after them.
  std::vector<QRect> places(int width) const;

  std::vector<SegmentName> m_names;
  Theme m_theme;
};

}  // namespace spanscope::ui
