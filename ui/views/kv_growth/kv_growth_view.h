// SPDX-License-Identifier: GPL-3.0-or-later
// Shows how the KV cache grows while a request generates its answer. Each forward pass has a row. The model
// adds the key of the token, and compares the query vector of the token with all stored keys. Open this file
// to change the picture.
#pragma once

#include "ui/views/common/block_painter.h"
#include "ui/views/common/input_view.h"
#include "ui/views/common/moving_view.h"

#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

class QLabel;
class QSlider;

namespace spanscope::ui {

/// A stored key of the shown request, in prompt order.
struct GrowthKey {
  TokenRef place;
  QString text;                      ///< the token
  BlockRole role = BlockRole::Free;  ///< whether the key was a hit or was computed
  std::size_t hue = 0;               ///< hue of the section of the prompt
  bool operator==(const GrowthKey&) const = default;
};

/// The keys of the prompt, and the forward passes that generated the answer. Forward pass 0 computes the
/// prompt. Each further pass computes one token of the answer, whose query vector is compared with all keys
/// so far.
struct GrowthModel {
  RequestId request = 0;        ///< 0: there is no request with computed tokens
  std::vector<GrowthKey> keys;  ///< first the keys of the prompt, then the keys of the answer
  std::size_t prompt = 0;       ///< number of keys of the prompt
  std::vector<QString> next;    ///< by forward pass: the token that it generated
  /// Whether each token of the answer attends to all earlier tokens. False for some reuse policies.
  bool readsAll = true;
  bool operator==(const GrowthModel&) const = default;

  /// Number of forward passes for tokens of the answer.
  std::size_t passes() const { return next.empty() ? 0 : next.size() - 1; }
  /// Number of keys that are compared with the query vector of a pass, including the key of the same token.
  /// `pass`: from 1.
  std::size_t keysOf(std::size_t pass) const { return prompt + pass; }
  /// Number of comparisons of a query vector with a key, over all passes.
  std::int64_t comparisons() const;
};
GrowthModel growthModel(const ViewInput& input);

/// A moment of the picture: the query vector of a forward pass was compared with `compared` keys.
struct GrowthStep {
  std::size_t pass = 0;  ///< 0: only the prompt is computed
  std::size_t compared = 0;
  bool operator==(const GrowthStep&) const = default;
};
/// The moment after this number of comparisons, 0 … comparisons().
GrowthStep growthStep(const GrowthModel& model, std::int64_t comparisons);
/// The sentence for a moment.
QString growthText(const GrowthModel& model, const GrowthStep& step);

class GrowthDrawing;

class KvGrowthView : public RunView, public MovingView, public DrawnParts {
  Q_OBJECT
 public:
  explicit KvGrowthView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;

  /// Stored keys are the places of tokens.
  const QWidget& placesIn() const override;
  std::vector<QRect> placesOf(const Selection& part) const override;
  void bringIntoSight(const Selection& part) override;

  const GrowthModel& model() const { return m_model; }
  const GrowthStep& step() const { return m_step; }

 protected:
  void refresh() override;
  QString emptyText() const override;
  void stopMotion() override;
  void showMotion() override;

 private:
  void showStep(const GrowthStep& step);
  void showChosen();

  GrowthModel m_model;
  GrowthStep m_step;
  std::optional<std::int64_t>
      m_chosen;  ///< number of comparisons that the user has chosen; nothing: all comparisons
  QLabel* m_sentence;
  QSlider* m_slider;
  GrowthDrawing* m_drawing;
  bool m_isFilling = false;
};

/// Draws one row for each forward pass and one column for each key.
class GrowthDrawing : public QWidget {
  Q_OBJECT
 public:
  explicit GrowthDrawing(QWidget* parent = nullptr);
  void setContent(const GrowthModel& model, const GrowthStep& step, std::optional<std::size_t> selected,
                  const Theme& theme);
  void paint(QPainter& painter, const QRect& area) const;
  /// The place of a key in its first row.
  QRect placeOf(std::size_t key) const;
  QSize sizeHint() const override { return {560, 260}; }
  QSize minimumSizeHint() const override { return {220, 90}; }

 Q_SIGNALS:
  void keyChosen(std::size_t key);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  bool event(QEvent* event) override;

 private:
  struct Layout {
    QRectF cells;              ///< of all rows
    double cell = 0;           ///< width of a key
    int row = 0;               ///< height of a row
    std::size_t firstRow = 0;  ///< the pass of the first visible row below the prompt's row
    std::size_t rows = 0;      ///< number of visible rows below the prompt's row
  };
  Layout layOut(const QRect& area) const;
  /// Fills the cells of the keys [begin, end) of a row.
  void paintKeys(QPainter& painter, const Layout& layout, double y, std::size_t begin, std::size_t end) const;
  std::optional<std::size_t> keyAt(const QPoint& point) const;

  GrowthModel m_model;
  GrowthStep m_step;
  std::optional<std::size_t> m_selected;
  BlockPainter m_blocks;
};

}  // namespace spanscope::ui
