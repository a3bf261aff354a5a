// SPDX-License-Identifier: GPL-3.0-or-later
// How all attention of an answer is divided: among documents, question, first tokens and answer. Open this
// file for the numbers above the attention view, and for the bar that shows them.
#pragma once

#include "ui/session/answer_shares.h"
#include "ui/session/view_input.h"
#include "ui/theme/theme.h"
#include "ui/views/common/item_canvas.h"

#include <QRect>
#include <QString>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace spanscope::ui {

/// Documents get a headline only if they have at least this share of all attention. In 20 answers of two
/// models that used documents, all documents had 0.16 to 0.48. In 4 answers that read almost no block of a
/// document, they had at most 0.038.
inline constexpr double kEnoughAttention = 0.1;

enum class ShareKind : std::uint8_t {
  Source,   ///< a document, or another child of a plus
  Own,      ///< the question; also the answer if the trace cannot separate the two
  Context,  ///< other text, such as the system message
  Sink,     ///< first tokens of segments: heads attend to these tokens if no other key matches
  Answer,   ///< earlier tokens of the answer
  Beside,   ///< answers that are generated at the same time
};

struct SharePiece {
  ShareKind kind = ShareKind::Source;
  std::uint32_t part = 0;  ///< section of the prompt; undefined for a sink and for other answers
  QString name;
  std::size_t hue = 0;    ///< for Theme::segmentInk
  double mass = 0;        ///< share of all attention, 0 … 1, without first tokens if they are known
  double share = -1;      ///< of a source: its document share, AnswerShares::share(); −1: no source
  bool isTop = false;     ///< a source with a large document share, well above an even division
  bool selected = false;  ///< the section's node, block or token is selected
  bool operator==(const SharePiece&) const = default;
};

/// Means over layers and heads. The masses of all pieces add up to 1.
struct ShareModel {
  RequestId request = 0;  ///< 0: nothing is known
  RunId run = 0;
  std::optional<QString> token;    ///< the selected token of the answer, if only that one is shown
  std::vector<SharePiece> pieces;  ///< sources in prompt order, then the other kinds
  double sources = 0;              ///< share of all attention on all sources, 0 … 1
  bool operator==(const ShareModel&) const = default;

  bool isEmpty() const { return pieces.empty(); }
  const SharePiece* of(std::uint32_t part) const;
};

/// The shares of the shown request, or of the selected token of its answer.
ShareModel shareModel(const ViewInput& input);

/// "Documents get 25 % of all attention of the answer. …: document 7 (56 %), …"
QString shareSentence(const ShareModel& model);
/// "document 7: 14 % of all attention", with the document share in a second line
QString shareTip(const SharePiece& piece);
/// Lines to append to the table of attentionCsv().
QString shareCsv(const ShareModel& model);

/// A sentence, a bar of 100 % with all pieces, and a legend.
class ShareBar : public ItemCanvas {
  Q_OBJECT
 public:
  explicit ShareBar(QWidget* parent = nullptr);

  void setContent(const ShareModel& model, const Theme& theme);
  const ShareModel& model() const { return m_model; }
  /// Shows the pieces on their way from `before`. `done` is the completed fraction, 0 … 1. Nothing: at rest.
  void showMotion(std::optional<ShareModel> before, double done);
  QSize sizeHint() const override;
  QSize minimumSizeHint() const override { return {0, 0}; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  /// Paints the bar at rest.
  void paint(QPainter& painter, const QRect& area);
  /// The rectangle of a piece, in a widget of this size.
  QRect pieceRect(std::size_t piece, const QRect& area) const;

 Q_SIGNALS:
  void chosen(std::size_t piece);

 protected:
  QRect itemRect(int item) const override;
  void paintEvent(QPaintEvent* event) override;

 private:
  struct Sample {
    std::size_t piece = 0;  ///< whose look the sample has
    QString text;
  };
  std::vector<Sample> legend() const;
  int sentenceHeight(int width) const;
  /// Lays out the legend, and paints it if `painter` is not null. Returns its height.
  int flow(QPainter* painter, const QRect& area) const;
  void fill(QPainter& painter, const QRect& area, const SharePiece& piece) const;
  void paintNow(QPainter& painter, const QRect& area) const;
  /// The mass of a piece at this moment.
  double massOf(std::size_t piece) const;

  ShareModel m_model;
  std::optional<ShareModel> m_before;
  double m_done = 1;
  Theme m_theme;
};

}  // namespace spanscope::ui
