// SPDX-License-Identifier: GPL-3.0-or-later
// Shows the tokens of the shown request, section by section, with the blocks that they fill.
#pragma once

#include "ui/views/common/input_view.h"
#include "ui/views/common/moving_view.h"
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

class BlockLegend;
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
  void stopMotion() override;
  void showMotion() override;

  TokenStrip m_strip;
  std::optional<StripMotion> m_motion;  ///< motion of the moment, at the current input
  Selection m_shown;                    ///< the last selection that the view scrolled to
  RequestId m_request = 0;              ///< the request in which the view scrolled to m_shown
  TokenStripArea* m_area;
  QPointer<BlockLegend> m_legend;
};

}  // namespace spanscope::ui
