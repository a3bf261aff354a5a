// SPDX-License-Identifier: GPL-3.0-or-later
// Shows how many requests like the shown one fit into the pool, with one buffer per request and with blocks.
// Open this file to change the picture of paging or its numbers.
#pragma once

#include "ui/views/common/input_view.h"

#include <cstdint>
#include <optional>
#include <vector>

class QLabel;
class QSlider;
class QSpinBox;

namespace spanscope::ui {

/// The shown request, and the memory that it needs in both ways. All sizes are token slots. Requests share no
/// blocks.
struct PagingModel {
  std::int32_t blockSize = 0;   ///< 0: there is no request or no pool
  std::int64_t slots = 0;       ///< of the pool, without the null block
  std::int64_t prompt = 0;      ///< tokens of the prompt
  std::int64_t used = 0;        ///< tokens of prompt and answer that a forward pass has computed
  std::int64_t maxTokens = 0;   ///< of an answer
  std::int64_t requests = 0;    ///< number of requests like this one
  std::int64_t mostChosen = 0;  ///< the largest number of requests that the user can choose
  bool operator==(const PagingModel&) const = default;

  /// Size of the buffer of one request. The buffer must have room for the longest answer.
  std::int64_t buffer() const { return prompt + maxTokens; }
  /// Size of the blocks of one request. The blocks have room for the tokens so far.
  std::int64_t blocks() const;
  std::int64_t fitting(std::int64_t each) const { return each == 0 ? 0 : slots / each; }
  /// How many of the requests run if one request takes `each` slots. The others wait.
  std::int64_t running(std::int64_t each) const;
  /// The share of empty slots among the slots that running requests take, 0 … 1.
  double empty(std::int64_t each) const;
};

struct PagingOptions {
  std::optional<std::int64_t> requests;   ///< nothing: half as many as fit with buffers
  std::optional<std::int64_t> maxTokens;  ///< nothing: from the generate node or the settings
};
PagingModel pagingModel(const ViewInput& input, const PagingOptions& options);

/// A range of slots that belongs to one request.
struct SlotRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t used = 0;  ///< slots with a token, from `begin` on
  std::size_t request = 0;
  bool operator==(const SlotRange&) const = default;
};
/// One buffer for each running request, in order.
std::vector<SlotRange> bufferRanges(const PagingModel& model);
/// The blocks of the running requests. All prompts come first. Then the answers grow in turn, one block each.
std::vector<SlotRange> blockRanges(const PagingModel& model);

class PagingDrawing;

class PagingView : public RunView {
  Q_OBJECT
 public:
  explicit PagingView(QWidget* parent = nullptr);

  QString csv() const override;
  void paintTo(QPainter& painter, const QSize& size) override;
  const PagingModel& model() const { return m_model; }

 protected:
  void refresh() override;
  QString emptyText() const override;

 private:
  PagingOptions m_options;
  PagingModel m_model;
  QWidget* m_controls;
  QLabel* m_count;
  QSlider* m_requests;
  QLabel* m_longest;
  QSpinBox* m_maxTokens;
  QLabel* m_sentence;
  PagingDrawing* m_drawing;
  bool m_isFilling = false;
};

/// Draws the memory of the pool twice, in rows from left to right.
class PagingDrawing : public QWidget {
  Q_OBJECT
 public:
  explicit PagingDrawing(QWidget* parent = nullptr);
  void setContent(const PagingModel& model, const Theme& theme);
  void paint(QPainter& painter, const QRect& area) const;
  QSize sizeHint() const override { return {520, 240}; }
  QSize minimumSizeHint() const override { return {200, 120}; }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  void paintMemory(QPainter& painter, const QRect& area, const QString& title,
                   const std::vector<SlotRange>& ranges) const;
  void paintRange(QPainter& painter, const QRect& area, std::int64_t begin, std::int64_t end,
                  const QBrush& brush, bool hasOutline) const;

  PagingModel m_model;
  Theme m_theme;
};

}  // namespace spanscope::ui
