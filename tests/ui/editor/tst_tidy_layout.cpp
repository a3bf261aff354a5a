// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/query/json/json.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/test_program.h"
#include "ui/editor/tidy_layout.h"

#include <QDebug>
#include <QObject>
#include <QStringLiteral>
#include <QTest>

#include <random>
#include <string>

using namespace spanscope;
using namespace spanscope::ui;
using document::Document;
using document::kNoNode;
using document::NodeId;
using document::Rect;

namespace {

Document fromJson(const std::string& json) {
  query::ParseResult read = query::parseJson(json);
  return read.query ? document::fromQuery(*read.query) : Document();
}

bool overlap(const Rect& a, const Rect& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

/// A document of some trees, grown by putting random operators at random free inputs.
Document randomDocument(std::mt19937& random, int nodes) {
  Document document;
  std::uniform_int_distribution<std::size_t> anyOperator(0, document::operatorNames().size() - 1);
  std::uniform_int_distribution<int> percent(0, 99);
  std::uniform_int_distribution<int> length(0, 200);
  for (int i = 0; i < nodes; ++i) {
    query::Node own = document::makeOperator(document::operatorNames()[anyOperator(random)]);
    if (auto* message = own.as<query::Message>())
      message->text.assign(static_cast<std::size_t>(length(random)), 'x');
    const NodeId id = document::addNode(document, own);
    if (percent(random) < 5) continue;
    const std::vector<NodeId> ids = document.ids();
    std::uniform_int_distribution<std::size_t> any(0, ids.size() - 1);
    for (int attempt = 0; attempt < 20; ++attempt) {
      const NodeId parent = ids[any(random)];
      const std::size_t children = document.at(parent).children.size();
      std::uniform_int_distribution<std::size_t> index(0, children);
      if (document::connect(document, id, {.parent = parent, .index = index(random)})) break;
    }
  }
  for (const NodeId id : document.ids()) {
    if (percent(random) < 3) document::setCollapsed(document, {id}, true);
  }
  return document;
}

constexpr const char* kRag = R"({"g": {"model": "m", "input": {"cross": [
  {"system": "Answer from the documents."},
  {"plus": [{"user": "one"}, {"user": "two"}, {"user": "three"}]},
  {"user": "Where?"}]}}})";

}  // namespace

class TestTidyLayout : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void nothingOverlaps_data() {
    QTest::addColumn<unsigned>("seed");
    QTest::addColumn<int>("nodes");
    for (unsigned seed = 1; seed <= 40; ++seed) {
      QTest::newRow(qPrintable(QStringLiteral("seed %1").arg(seed)))
          << seed << static_cast<int>(5 + seed * 5);
    }
  }

  void nothingOverlaps() {
    QFETCH(unsigned, seed);
    QFETCH(int, nodes);
    std::mt19937 random(seed);
    const Document document = randomDocument(random, nodes);
    const auto layout = tidyLayout(document);
    for (auto a = layout.begin(); a != layout.end(); ++a) {
      for (auto b = std::next(a); b != layout.end(); ++b) {
        if (overlap(a->second, b->second)) {
          qWarning("seed %u: nodes %u and %u overlap", seed, a->first, b->first);
          QFAIL("nodes overlap");
        }
      }
    }
  }

  void inputsKeepTheirOrder_data() { nothingOverlaps_data(); }
  void inputsKeepTheirOrder() {
    QFETCH(unsigned, seed);
    QFETCH(int, nodes);
    std::mt19937 random(seed);
    Document document = randomDocument(random, nodes);
    std::uniform_real_distribution<double> anywhere(-2000, 2000);
    for (const NodeId id : document.ids()) {  // also where everything is pulled about
      if (id % 3 == 0)
        document::setPosition(document, id, document::Point{.x = anywhere(random), .y = anywhere(random)});
    }
    const auto layout = tidyLayout(document);
    for (const auto& [id, rect] : layout) {
      const std::vector<double> heights = inputHeights(document, id, layout);
      for (std::size_t i = 0; i < heights.size(); ++i) {
        QVERIFY2(heights[i] >= 0 && heights[i] <= rect.height,
                 qPrintable(QStringLiteral("seed %1").arg(seed)));
        if (i > 0) QVERIFY(heights[i] > heights[i - 1]);
      }
    }
  }

  void readsLikeThePrompt() {
    const Document document = fromJson(kRag);
    const auto layout = tidyLayout(document);
    const NodeId root = document.root();
    const NodeId cross = document.at(root).children[0];
    const NodeId plus = document.at(cross).children[1];
    std::vector<NodeId> leaves;
    for (const NodeId id : document.subtree(root)) {
      if (document.at(id).children.empty()) leaves.push_back(id);
    }
    QCOMPARE(leaves.size(), std::size_t(5));
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      QCOMPARE(layout.at(leaves[i]).x, layout.at(leaves[0]).x);
      QCOMPARE(layout.at(leaves[i]).width, kCardWidth);
      if (i > 0) QVERIFY(layout.at(leaves[i]).y > layout.at(leaves[i - 1]).y);
    }
    QVERIFY(layout.at(plus).x > layout.at(leaves[0]).x);
    QVERIFY(layout.at(cross).x > layout.at(plus).x);
    QVERIFY(layout.at(root).x > layout.at(cross).x);
    // Joins are beside all of their children.
    for (const NodeId child : document.at(cross).children) {
      const double middle = layout.at(child).y + layout.at(child).height / 2;
      QVERIFY(middle > layout.at(cross).y && middle < layout.at(cross).y + layout.at(cross).height);
    }
  }

  void anExplicitPositionWins() {
    Document document = fromJson(kRag);
    const auto before = tidyLayout(document);
    const NodeId cross = document.at(document.root()).children[0];
    document::setPosition(document, cross, document::Point{.x = 1234, .y = -56});
    const auto after = tidyLayout(document);
    for (const auto& [id, rect] : after) {
      if (id == cross) {
        QCOMPARE(rect.x, 1234.0);
        QCOMPARE(rect.y, -56.0);
      } else {
        QCOMPARE(rect, before.at(id));
      }
    }
    document::setPosition(document, document.root(), document::Point{.x = 5000, .y = 100});
    const auto moved = tidyLayout(document);
    QCOMPARE(moved.at(cross).x, 1234.0);
    const NodeId system = document.at(cross).children[0];
    QCOMPARE(moved.at(system).x - before.at(system).x, 5000 - before.at(document.root()).x);
  }

  void whatIsCollapsedIsHidden() {
    Document document = fromJson(kRag);
    const NodeId cross = document.at(document.root()).children[0];
    document::setCollapsed(document, {cross}, true);
    const auto layout = tidyLayout(document);
    QCOMPARE(layout.size(), std::size_t(2));
    QVERIFY(layout.count(cross) == 1);
    QVERIFY(inputHeights(document, cross, layout).empty());
  }

  void draftsStandBelow() {
    Document document = fromJson(kRag);
    const NodeId draft = document::addNode(document, document::makeOperator("user"));
    const auto layout = tidyLayout(document);
    for (const auto& [id, rect] : layout) {
      if (id != draft) QVERIFY(layout.at(draft).y >= rect.y + rect.height);
    }
  }

  void aDeepTreeIsLaidOut() {
    Document document;
    NodeId top = document::addNode(document, document::makeOperator("user"));
    for (int i = 0; i < 3000; ++i) {
      const NodeId above = document::addNode(document, document::makeOperator("seq"));
      QVERIFY(document::insertAbove(document, top, above));
      top = above;
    }
    QCOMPARE(tidyLayout(document).size(), std::size_t(3001));
  }
};

SPANSCOPE_TEST(tst_tidy_layout, TestTidyLayout, QApplication)
#include "tst_tidy_layout.moc"
