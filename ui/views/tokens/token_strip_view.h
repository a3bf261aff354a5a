// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the tokens of the shown request, wrapped, with the blocks that they fill.
#pragma once

#include "ui/views/common/drawn_parts.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/moving_view.h"
#include "ui/views/tokens/token_strip_model.h"
#include "ui/views/tokens/token_strip_motion.h"

#include <QPointer>

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
  std::optional<StripMotion> m_motion;  ///< of the moment, at the present input
  Selection m_shown;                    ///< the selection that was last moved into sight
  TokenStripArea* m_area;
  QPointer<SegmentChips> m_chips;
};

}  // namespace spanscope::ui
