// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the tokens of the shown request, wrapped, with the blocks that they fill.
#pragma once

#include "ui/theme/theme.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/moving_view.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/tokens/token_strip_model.h"
#include "ui/views/tokens/token_strip_motion.h"
#include "ui/views/view.h"

#include <QPointer>
#include <QRect>
#include <QWidget>

#include <cstddef>
#include <optional>
#include <vector>

namespace spanscope::ui {

class SegmentChips;
class TokenStripArea;

class TokenStripView : public InputView, public MovingView, public DrawnParts {
  Q_OBJECT
 public:
  explicit TokenStripView(QWidget* parent = nullptr);

  QWidget* takeTitleControls() override;
  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  const TokenStrip& strip() const { return m_strip; }

  const QWidget& placesIn() const override;
  std::vector<QRect> placesOf(const Selection& part) const override;
  void bringIntoSight(const Selection& part) override;

 protected:
  void refresh() override;

 private:
  void select(std::size_t token);
  void showChips();
  void stopMotion() override;
  void showMotion() override;

  TokenStrip m_strip;
  std::optional<StripMotion> m_motion;  ///< motion of the moment, at the current input
  Selection m_shown;                    ///< the last selection that the view scrolled to
  TokenStripArea* m_area;
  QPointer<SegmentChips> m_chips;
};

// Shows the names of a prompt's segments in a title bar, each on the tint of its segment.

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
  /// The places of the chips that fit into the width. The number of hidden chips is shown after the visible
  /// chips.
  std::vector<QRect> places(int width) const;

  std::vector<SegmentName> m_names;
  Theme m_theme;
};

}  // namespace spanscope::ui
