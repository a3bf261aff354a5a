// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "ui/editor/canvas_style.h"
#include "ui/editor/node_look.h"
#include "ui/editor/node_paint.h"
#include "ui/editor/tidy_layout.h"
#include "ui/operators/operator_table.h"
#include "ui/words/metric_words.h"
#include "ui/words/part_text.h"

#include <QApplication>
#include <QImage>
#include <QObject>
#include <QPainter>
#include <QRegularExpression>
#include <QTest>

#include <algorithm>
#include <cmath>

using namespace spanscope::ui;
using spanscope::product_text::worded;

class TestNodeTexts : public QObject {
  Q_OBJECT

  static NodeLook generateOf(int frozen) {
    NodeLook look;
    look.op = std::string("g");
    look.title = QStringLiteral("generate");
    look.answers = true;
    look.rect = {.x = 0, .y = 0, .width = kCardWidth, .height = kGenerateHeight};
    for (int i = 0; i < frozen; ++i) look.frozen += QStringLiteral("Answer %1.").arg(i);
    return look;
  }

 private Q_SLOTS:
  /// However small a stack is, its figures are whole.
  void stacksSayWhatFits() {
    NodeStatus status;
    status.tokens = 3620;
    status.served = {.hit = 3294, .computed = 326};
    QCOMPARE(status.cachedShare(), QStringLiteral("91\u00A0%"));
    QStringList said;
    for (double width = kCardWidth; width >= 72; width -= 4) {
      NodeLook look;
      look.op = std::string("user");
      look.title = QStringLiteral("user");
      look.stacked = 20;
      look.rect = {.x = 0, .y = 0, .width = width, .height = kStackHeight};
      const NodeTexts texts = makeNodeTexts(look, status, nullptr, CanvasStyle(Theme()), 1);
      QCOMPARE(texts.body.size(), std::size_t(1));
      const QString text = texts.body.front().text;
      QVERIFY2(!text.contains(QChar(0x2026)), qPrintable(QStringLiteral("%1 at %2").arg(text).arg(width)));
      if (said.isEmpty() || said.last() != text) said += text;
    }
    QCOMPARE(said.front(), stackText(status));
    QVERIFY(said.size() > 2);
    for (const QString& text : said) QVERIFY2(text.contains(QStringLiteral("3\u202F620")), qPrintable(text));
  }

  /// A stack that has room only for a sign shows the number of its nodes.
  void signsOfStacksHaveANumber() {
    constexpr double kZoom = 0.3;
    static_assert(kZoom < kTextZoom && kZoom > kShapeZoom);
    const auto picture = [](int stacked, double width) {
      NodeLook look;
      look.op = std::string("user");
      look.title = QStringLiteral("documents of the user");
      look.stacked = stacked;
      look.rect = {.x = 0, .y = 0, .width = width, .height = kStackHeight};
      const CanvasStyle style{Theme()};
      const NodeStatus status;
      QImage image(80, 30, QImage::Format_RGB32);
      image.fill(Qt::white);
      QPainter painter(&image);
      painter.scale(kZoom, kZoom);
      paintNode(painter, look, status, makeNodeTexts(look, status, nullptr, style, textScale(kZoom)), {},
                style, kZoom);
      return image;
    };
    QVERIFY(picture(20, kCardWidth) != picture(17, kCardWidth));
    // Without room for the number, the sign is alone.
    QCOMPARE(picture(20, kCardWidth / 3), picture(17, kCardWidth / 3));
  }

  /// The bar of a small card is below its sign, or absent.
  void barsAreBelowSigns_data() {
    QTest::addColumn<int>("stacked");
    QTest::addColumn<double>("zoom");
    QTest::addColumn<bool>("hasBar");
    for (const int stacked : {0, 3}) {
      QTest::addRow("%d, with room", stacked) << stacked << 0.32 << true;
      QTest::addRow("%d, without room", stacked) << stacked << 0.17 << false;
    }
  }
  void barsAreBelowSigns() {
    QFETCH(int, stacked);
    QFETCH(double, zoom);
    QFETCH(bool, hasBar);
    NodeLook look;
    look.op = std::string("user");
    look.title = QStringLiteral("user");
    look.stacked = stacked;
    look.rect = {.x = 0, .y = 0, .width = kCardWidth, .height = stacked > 0 ? kStackHeight : kTextCardHeight};
    NodeStatus status;
    status.served = {.hit = 16};
    const CanvasStyle style{Theme()};
    QImage image(100, 40, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    painter.scale(zoom, zoom);
    paintNode(painter, look, status, {}, {}, style, zoom);
    painter.end();
    int sign = -1;
    int firstBar = image.height();
    bool isDrawn = false;
    // The stripe is at the left, and the sheets of a stack are at the right.
    for (int y = 2; y < qRound(look.rect.height * zoom) - 1; ++y) {
      for (int x = 8; x < qRound(look.rect.width * zoom) - 8; ++x) {
        const QColor color = image.pixelColor(x, y);
        if (color == style.servedInk(BlockRole::Hit)) {
          firstBar = std::min(firstBar, y);
          isDrawn = true;
        } else if (color.lightness() < 160 && color.hslSaturation() < 60) {
          sign = y;
        }
      }
    }
    QCOMPARE(isDrawn, hasBar);
    QVERIFY(sign >= 0);
    QVERIFY2(sign < firstBar, qPrintable(QStringLiteral("sign to %1, bar from %2").arg(sign).arg(firstBar)));
  }

  /// A low card has its bar below the title.
  void lowCardsHaveABar() {
    const QFontMetrics metrics(CanvasStyle(Theme()).titleFont);
    for (double height = 22; height <= 60; height += 0.5) {
      NodeLook look;
      look.rect = {.x = 0, .y = 0, .width = 94, .height = height};
      const NodeCardPlan plan(look, 1);
      QVERIFY2(plan.hasBar, qPrintable(QString::number(height)));
      QVERIFY2(plan.bar.top() >= plan.titleTop + metrics.ascent(), qPrintable(QString::number(height)));
      QVERIFY2(plan.bar.bottom() <= height - 2, qPrintable(QString::number(height)));
    }
  }

  /// The document share is painted in the card.
  void documentSharesStayInTheirCard() {
    const CanvasStyle style{Theme()};
    for (const double zoom : {1.0, 0.7, 0.5}) {
      NodeLook look;
      look.op = std::string("user");
      look.title = QStringLiteral("user");
      look.rect = {.x = 0, .y = 0, .width = kCardWidth, .height = kTextCardHeight};
      const auto painted = [&](double looked) {
        NodeStatus status;
        status.looked = looked;
        QImage image(300, 140, QImage::Format_RGB32);
        image.fill(Qt::white);
        QPainter painter(&image);
        painter.translate(30, 30);
        painter.scale(zoom, zoom);
        paintNode(painter, look, status, makeNodeTexts(look, status, nullptr, style, textScale(zoom)), {},
                  style, zoom);
        painter.end();
        return image;
      };
      QImage with = painted(0.41);
      QImage without = painted(-1);
      QVERIFY(with != without);
      const QRect card(31, 31, qRound(kCardWidth * zoom) - 2, qRound(kTextCardHeight * zoom) - 2);
      for (QImage* image : {&with, &without}) QPainter(image).fillRect(card, Qt::white);
      QCOMPARE(with, without);
    }
  }

  /// The title of a pill does not touch the numbers of the inputs.
  void titlesOfPillsKeepOffNumbers() {
    constexpr double kZoom = 0.34;
    constexpr int kLeft = 20;
    const CanvasStyle style{Theme()};
    NodeLook look;
    look.op = std::string("cross");
    look.pill = true;
    look.title = QStringLiteral("cross");
    look.rect = {.x = 0, .y = 0, .width = kPillWidth, .height = 280};
    look.inputs = {40, 140, 240};
    look.taken = {true, true, true};
    look.labels = {QStringLiteral("1"), QStringLiteral("2"), QStringLiteral("3")};
    const auto painted = [&](bool hasTitle) {
      NodeTexts texts = makeNodeTexts(look, {}, nullptr, style, textScale(kZoom));
      if (!hasTitle) texts.title = {};
      QImage image(80, 120, QImage::Format_RGB32);
      image.fill(Qt::white);
      QPainter painter(&image);
      painter.translate(kLeft, 10);
      painter.scale(kZoom, kZoom);
      paintNode(painter, look, {}, texts, {}, style, kZoom);
      painter.end();
      return image;
    };
    const QImage with = painted(true);
    const QImage without = painted(false);
    QVERIFY(with != without);
    const double radius = kNumberRadius * kMostNumberScale * kZoom + 1;
    for (int y = 0; y < with.height(); ++y) {
      for (int x = 0; x < with.width(); ++x) {
        if (with.pixel(x, y) == without.pixel(x, y)) continue;
        for (const double input : look.inputs) {
          const double away = std::hypot(x + 0.5 - kLeft, y + 0.5 - 10 - input * kZoom);
          QVERIFY2(away > radius, qPrintable(QStringLiteral("%1, %2").arg(x).arg(y)));
        }
      }
    }
  }

  /// A card without a line for its text counts the tokens of its stack in the title.
  void lowStacksCountTokens() {
    NodeStatus status;
    status.tokens = 3620;
    NodeLook look;
    look.op = std::string("user");
    look.title = QStringLiteral("20 documents");
    look.stacked = 20;
    look.rect = {.x = 0, .y = 0, .width = kCardWidth, .height = kStackHeight / 3};
    const NodeTexts texts = makeNodeTexts(look, status, nullptr, CanvasStyle(Theme()), 1);
    QVERIFY(texts.body.empty());
    QVERIFY2(texts.count.text.contains(QStringLiteral("3\u202F620")), qPrintable(texts.count.text));
  }

  /// Documents on narrow cards have titles that differ.
  void titlesKeepTheirNumbers() {
    for (double width = kCardWidth; width >= 90; width -= 6) {
      NodeLook look;
      look.op = std::string("user");
      look.title = QStringLiteral("user");
      look.identity = QStringLiteral("document 12");
      look.rect = {.x = 0, .y = 0, .width = width, .height = kTextCardHeight};
      const QString title = makeNodeTexts(look, {}, nullptr, CanvasStyle(Theme()), 1).title.text;
      QVERIFY2(title.endsWith(QStringLiteral("12")),
               qPrintable(QStringLiteral("%1 at %2").arg(title).arg(width)));
    }
  }

  /// Before a name is cut, it is written in a smaller font.
  void titlesAreSmallBeforeTheyAreCut() {
    NodeLook card;
    card.op = std::string("user");
    card.identity = QStringLiteral("document 1");
    card.rect = {.x = 0, .y = 0, .width = 84, .height = kTextCardHeight};
    QCOMPARE(makeNodeTexts(card, {}, nullptr, CanvasStyle(Theme()), 1).title.text, card.identity);
    NodeLook pill;
    pill.op = std::string("cross");
    pill.pill = true;
    pill.title = QStringLiteral("cross");
    pill.rect = {.x = 0, .y = 0, .width = 34, .height = 120};
    const NodeTexts texts = makeNodeTexts(pill, {}, nullptr, CanvasStyle(Theme()), 1);
    QCOMPARE(texts.title.text, pill.title);
    QVERIFY(texts.title.width < pill.rect.width);
  }

  /// A narrow card leaves out the operator, and then letters of the name.
  void titlesKeepTheName() {
    const QString name = QStringLiteral("Quarterly report 12");
    QStringList said;
    for (double width = 2 * kCardWidth; width >= 90; width -= 2) {
      NodeLook look = generateOf(0);
      look.name = name;
      look.rect.width = width;
      const QString title = makeNodeTexts(look, {}, nullptr, CanvasStyle(Theme()), 1).title.text;
      if (said.isEmpty() || said.last() != title) said += title;
    }
    QVERIFY(said.size() > 3);
    QCOMPARE(said.at(0), QStringLiteral("generate · ") + name);
    QCOMPARE(said.at(1), name);
    for (const QString& title : said) QVERIFY2(title.endsWith(QStringLiteral("12")), qPrintable(title));
  }

  /// The digits keep as far from the lower edge of a low card as from that of any other.
  void sharesKeepOffTheEdge() {
    const Theme theme;
    const QFontMetrics metrics(theme.monoFont());
    for (double height = 30; height <= 120; ++height) {
      NodeLook look;
      look.rect = {.x = 0, .y = 0, .width = 180, .height = height};
      const NodeCardPlan plan(look, 1);
      const double bottom =
          plan.shareTop + kShareRise + metrics.tightBoundingRect(QStringLiteral("0")).height();
      QVERIFY2(height - bottom >= 4,
               qPrintable(QStringLiteral("%1 below %2").arg(height - bottom).arg(height)));
    }
  }

  /// A card with room for one line has it, whether or not its bar is drawn, and the two keep apart.
  void lowCardsHaveALineOfText() {
    const QFontMetrics metrics(CanvasStyle(Theme()).bodyFont);
    for (double height = 33; height <= 60; height += 0.5) {
      NodeLook look;
      look.rect = {.x = 0, .y = 0, .width = 180, .height = height};
      look.text = QStringLiteral("Where does Priya live?");
      const NodeCardPlan plan(look, 1);
      const NodeTexts texts = makeNodeTexts(look, {}, nullptr, CanvasStyle(Theme()), 1);
      QVERIFY2(!texts.body.empty(), qPrintable(QString::number(height)));
      const double baseline = plan.bodyTop + metrics.ascent();
      QVERIFY2(baseline + 0.5 <= plan.bar.top(), qPrintable(QString::number(height)));
      QVERIFY2(plan.bar.bottom() <= height - 2, qPrintable(QString::number(height)));
      const double title = plan.titleTop + QFontMetrics(CanvasStyle(Theme()).titleFont).ascent();
      QVERIFY2(baseline - title >= 12, qPrintable(QString::number(height)));
    }
  }

  /// Chips on the lower edge leave the bar visible, on cards of every height.
  void chipsCoverNoBar() {
    for (double height = 30; height <= 120; height += 0.5) {
      NodeLook look;
      look.rect = {.x = 0, .y = 0, .width = 180, .height = height};
      const NodeCardPlan plan(look, 1);
      QVERIFY2(plan.chipTop >= plan.bar.bottom(), qPrintable(QString::number(height)));
      QVERIFY2(plan.chipTop <= height, qPrintable(QString::number(height)));
    }
  }

  /// The badge names its number, with the same name on narrow and wide cards.
  void badgesNameTheDocumentShare() {
    NodeStatus status;
    status.looked = 0.41;
    const QString share = partText(status.looked);
    for (double width = kCardWidth + 60; width >= 110; width -= 10) {
      NodeLook look;
      look.op = std::string("user");
      look.rect = {.x = 0, .y = 0, .width = width, .height = kTextCardHeight};
      const QString text = makeNodeTexts(look, status, nullptr, CanvasStyle(Theme()), 1).looked.text;
      const bool isNamed = text == worded("<card-share|%1>").arg(share);
      QVERIFY2(isNamed || text == share, qPrintable(text));
      if (width > 140) QVERIFY2(isNamed, qPrintable(text));
    }
  }

  void answersEndAboveTheStateThatCountsThem_data() {
    QTest::addColumn<int>("frozen");
    QTest::addColumn<double>("zoom");
    for (const int frozen : {1, 2, 4}) {
      for (const double zoom : {1.0, 0.8, 0.7, 0.6, 0.5, 0.42, 0.4, 0.3})
        QTest::addRow("%d answers, zoom %.2f", frozen, zoom) << frozen << zoom;
    }
  }
  void answersEndAboveTheStateThatCountsThem() {
    QFETCH(int, frozen);
    QFETCH(double, zoom);
    const NodeLook look = generateOf(frozen);
    const double scale = textScale(zoom);
    const NodeTexts texts = makeNodeTexts(look, {}, nullptr, CanvasStyle(Theme()), scale);
    const NodeCardPlan plan(look, scale);
    QVERIFY(static_cast<int>(texts.body.size()) <= plan.bodyLines);
    if (frozen > 1) QVERIFY(texts.state.text.startsWith(QStringLiteral("%1 fro").arg(frozen)));
  }

  void inputsKeepTheirNumbers_data() {
    QTest::addColumn<double>("zoom");
    for (const double zoom : {1.0, 0.8, 0.6, 0.5, 0.4}) QTest::addRow("zoom %.1f", zoom) << zoom;
  }
  /// A number of an input is drawn at every zoom at which texts are.
  void inputsKeepTheirNumbers() {
    QFETCH(double, zoom);
    const auto painted = [zoom](const char* number) {
      NodeLook look;
      look.op = std::string("plus");
      look.pill = true;
      look.title = QStringLiteral("plus");
      look.rect = {0, 0, kPillWidth, 280};
      look.inputs = {60, 150, 220};
      look.taken = {true, true, false};
      look.labels = {QString::fromLatin1(number), QStringLiteral("2"), QStringLiteral("+")};
      const CanvasStyle style{Theme()};
      const NodeTexts texts = makeNodeTexts(look, {}, nullptr, style, textScale(zoom));
      QImage image(200, 320, QImage::Format_ARGB32_Premultiplied);
      image.fill(Qt::white);
      QPainter painter(&image);
      painter.translate(60, 20);
      painter.scale(zoom, zoom);
      paintNode(painter, look, {}, texts, {}, style, zoom);
      return image;
    };
    QVERIFY(painted("1") != painted("7"));
  }

  void thePredictionHasSpace_data() {
    QTest::addColumn<double>("zoom");
    QTest::addColumn<bool>("isPainted");
    for (const double zoom : {1.0, 0.8, 0.6, 0.52}) QTest::addRow("zoom %.2f", zoom) << zoom << true;
    QTest::newRow("zoom 0.35") << 0.35 << false;
  }
  /// A card shows the prediction down to the zoom at which a window of 1024×700 shows a query. The chip ends
  /// above the next card.
  void thePredictionHasSpace() {
    QFETCH(double, zoom);
    QFETCH(bool, isPainted);
    NodeLook look;
    look.op = std::string("user");
    look.title = QStringLiteral("user");
    look.text = QStringLiteral("Tarek is a baker.");
    look.rect = {0, 0, kCardWidth, kTextCardHeight};
    constexpr double kMargin = 40;
    const auto painted = [&look, zoom](const NodePrediction* prediction) {
      const CanvasStyle style{Theme()};
      const NodeTexts texts = makeNodeTexts(look, {}, prediction, style, textScale(zoom));
      QImage image(400, 200, QImage::Format_ARGB32_Premultiplied);
      image.fill(Qt::white);
      QPainter painter(&image);
      painter.translate(kMargin, kMargin);
      painter.scale(zoom, zoom);
      paintNode(painter, look, {}, texts, {}, style, zoom);
      return image;
    };
    NodePrediction prediction;
    prediction.prompt = {20, 20};
    prediction.cached = {20, 20};
    const QImage with = painted(&prediction);
    const QImage without = painted(nullptr);
    QCOMPARE(with != without, isPainted);
    const int next = static_cast<int>(kMargin + (kTextCardHeight + kRowGap) * zoom);
    const QRect below(0, next, with.width(), with.height() - next);
    QVERIFY(with.copy(below) == without.copy(below));
  }

  void pillsSayWhatTheyPromise_data() {
    QTest::addColumn<QString>("op");
    QTest::addColumn<double>("zoom");
    for (const char* op : {"plus", "cross", "seq", "par", "zip"}) {
      for (const double zoom : {1.0, 0.8, 0.7, 0.6, 0.5})
        QTest::addRow("%s, zoom %.1f", op, zoom) << QString::fromLatin1(op) << zoom;
    }
  }
  /// Texts are larger in the scene where the zoom is small: what a pill promises then takes more lines.
  void pillsSayWhatTheyPromise() {
    QFETCH(QString, op);
    QFETCH(double, zoom);
    NodeLook look;
    look.op = op.toStdString();
    look.pill = true;
    look.title = op;
    look.promise = operatorInfo(look.op).promise;
    look.rect = {0, 0, kPillWidth, 280};
    QVERIFY(!look.promise.isEmpty());
    const double scale = textScale(zoom);
    const NodeTexts texts = makeNodeTexts(look, {}, nullptr, CanvasStyle(Theme()), scale);
    qsizetype cut = look.promise.count(QRegularExpression(QStringLiteral("\\S")));
    for (const TextLine& line : texts.promise) {
      QVERIFY2(!line.text.contains(QStringLiteral("…")), qPrintable(line.text));
      QVERIFY(line.width <= kPillWidth / scale);
      cut -= line.text.count(QRegularExpression(QStringLiteral("\\S")));
    }
    QCOMPARE(cut, qsizetype{0});
  }
};

SPANSCOPE_TEST(tst_node_texts, TestNodeTexts, QApplication)
#include "tst_node_texts.moc"
