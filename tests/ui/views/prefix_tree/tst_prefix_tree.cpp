// SPDX-License-Identifier: GPL-3.0-or-later
// The tree of cached beginnings: its rows, their order, and the shown prompt's part of it.
#include "engine/policy/policies.h"
#include "engine/run/run_options.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "ui/views/prefix_tree/prefix_tree_view.h"

#include <QApplication>
#include <QHeaderView>
#include <QSignalSpy>
#include <QTest>
#include <QTreeView>

#include <algorithm>
#include <set>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

/// The example, and the same with two documents swapped. The first block ends within the first message.
ViewInput exampleRuns(const policy::Policy& policy) {
  run::SessionConfig session;
  session.blockSize = 4;
  test::RunRecorder recorder(session);
  const document::Document document = test::exampleDocument("rag.json");
  recorder.run(document, policy);
  recorder.run(test::swapped(document), policy);
  return recorder.recorded().input();
}

PrefixTree treeOf(const ViewInput& input) {
  BlockHistory history;
  history.follow(input.trace);
  return prefixTree(input, history);
}

std::vector<int> childrenOf(const PrefixTree& tree, int parent) {
  std::vector<int> children;
  for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
    if (tree.nodes[i].parent == parent) children.push_back(static_cast<int>(i));
  }
  return children;
}

std::int64_t tokensOf(const PrefixTree& tree, BlockRole role) {
  std::int64_t tokens = 0;
  for (const PrefixNode& node : tree.nodes) tokens += node.role == role ? node.tokens : 0;
  return tokens;
}

}  // namespace

class TestPrefixTree : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void initTestCase() { QApplication::setStyle(QStringLiteral("Fusion")); }

  /// Every cached block is in exactly one row, below the row of its parent block.
  void everyCachedBlockIsInOneRow_data() {
    QTest::addColumn<QString>("policy");
    for (const policy::Policy* policy : {&policy::kPrefix, &policy::kSpans, &policy::kSharedPrefix})
      QTest::newRow(policy->name) << QString::fromUtf8(policy->name);
  }
  void everyCachedBlockIsInOneRow() {
    QFETCH(const QString, policy);
    const ViewInput input = exampleRuns(*policy::findPolicy(policy.toStdString()));
    const PrefixTree tree = treeOf(input);
    const auto& blocks = input.state().pool().blocks();
    std::set<BlockId> seen;
    for (const PrefixNode& node : tree.nodes) {
      std::int64_t begin = 0;
      for (int above = node.parent; above >= 0; above = tree.nodes[static_cast<std::size_t>(above)].parent)
        begin += tree.nodes[static_cast<std::size_t>(above)].tokens;
      QCOMPARE(node.begin, begin);
      BlockId before =
          node.parent < 0 ? kNullBlock : tree.nodes[static_cast<std::size_t>(node.parent)].blocks.back();
      for (const BlockId id : node.blocks) {
        const trace::BlockState& block = blocks[static_cast<std::size_t>(id)];
        QVERIFY(block.cached && seen.insert(id).second);
        if (before != kNullBlock) QCOMPARE(block.parent, blocks[static_cast<std::size_t>(before)].key);
        before = id;
      }
      QVERIFY(!node.text.isEmpty());
      QVERIFY(!node.storedBy.isEmpty());
    }
    std::set<std::pair<std::uint64_t, std::uint64_t>> keys;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (blocks[i].cached) keys.insert({blocks[i].key.high, blocks[i].key.low});
    }
    QCOMPARE(seen.size(), keys.size());
  }

  /// Both prompts begin with the same block, and then the tree branches.
  void promptsShareTheirBeginning() {
    const ViewInput input = exampleRuns(policy::kPrefix);
    const PrefixTree tree = treeOf(input);
    const std::vector<int> roots = childrenOf(tree, -1);
    QCOMPARE(roots.size(), std::size_t{1});
    const PrefixNode& root = tree.nodes[static_cast<std::size_t>(roots.front())];
    QCOMPARE(root.role, BlockRole::Hit);
    QVERIFY(root.text.contains(QStringLiteral("helpful assistant")));
    QCOMPARE(childrenOf(tree, roots.front()).size(), std::size_t{2});
    const auto& request = input.state().progress().requests.at(tree.request);
    QVERIFY(tokensOf(tree, BlockRole::Hit) <= request.cachedTokens);
  }

  /// Spans do not depend on each other, so each of them begins a tree.
  void spansBeginTreesOfTheirOwn() {
    const PrefixTree tree = treeOf(exampleRuns(policy::kSpans));
    QVERIFY(childrenOf(tree, -1).size() > 3);
    QVERIFY(tokensOf(tree, BlockRole::Relocated) > 0);
  }

  /// Another prompt of the same cache has its own rows.
  void theShownPromptIsMarked() {
    ViewInput input = exampleRuns(policy::kPrefix);
    const PrefixTree second = treeOf(input);
    input.selection.request = 1;
    const PrefixTree first = treeOf(input);
    QCOMPARE(first.nodes.size(), second.nodes.size());
    QCOMPARE(tokensOf(first, BlockRole::Hit), std::int64_t{0});
    QVERIFY(tokensOf(first, BlockRole::Computed) > 0);
    QVERIFY(tokensOf(first, BlockRole::Free) > 0);
  }

  void anEmptyCacheHasNoTree() {
    test::RunRecorder recorder;
    recorder.run(test::exampleDocument("rag.json"));
    recorder.clearCache();
    const ViewInput input = recorder.recorded().input();
    QVERIFY(treeOf(input).nodes.empty());
    QVERIFY(prefixTreeCsv(treeOf(input)).isEmpty());
  }

  /// No header is cut or outside of a narrow dock.
  void headersAreWholeInANarrowDock() {
    const ViewInput input = exampleRuns(policy::kPrefix);
    qApp->setStyleSheet(input.theme.styleSheet());
    PrefixTreeView view;
    view.resize(320, 400);
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    const auto hasWholeHeaders = [&] {
      const QHeaderView& header = *view.rows().header();
      for (int column = 0; column < header.count(); ++column) {
        if (header.isSectionHidden(column)) continue;
        const QString title = view.rows().model()->headerData(column, Qt::Horizontal).toString();
        if (header.sectionSize(column) < header.fontMetrics().horizontalAdvance(title)) return false;
        if (header.sectionSize(column) < header.sectionSizeHint(column)) return false;
      }
      return header.length() <= view.rows().viewport()->width();
    };
    QTRY_VERIFY(hasWholeHeaders());
    view.resize(459, 400);
    QTRY_VERIFY(hasWholeHeaders());
    view.resize(900, 400);
    QTRY_VERIFY(hasWholeHeaders());
    QCOMPARE(view.rows().header()->hiddenSectionCount(), 0);
  }

  void aRowSelectsItsBlock() {
    PrefixTreeView view;
    ViewInput input = exampleRuns(policy::kPrefix);
    view.resize(640, 400);
    view.setInput(input);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    QVERIFY(view.rows().isVisible());
    QSignalSpy wanted(&view, &View::selectionWanted);
    view.rows().setCurrentIndex(view.rows().model()->index(0, 0));
    const auto first = wanted.size();
    QTest::keyClick(&view.rows(), Qt::Key_Down);
    QCOMPARE(wanted.size(), first + 1);
    const auto selection = wanted.back().front().value<Selection>();
    QCOMPARE(selection.physical, view.tree().nodes[1].blocks.front());
    input.selection = selection;
    view.setInput(input);
    QCOMPARE(wanted.size(), first + 1);
    const std::vector<QRect> places = view.placesOf(selection);
    QCOMPARE(places.size(), std::size_t{1});
    QVERIFY(view.placesIn().rect().intersects(places.front()));
    QCOMPARE(view.csv().count(QLatin1Char('\n')), static_cast<qsizetype>(1 + view.tree().nodes.size()));
  }
};

SPANSCOPE_TEST(tst_prefix_tree, TestPrefixTree, QApplication)
#include "tst_prefix_tree.moc"
