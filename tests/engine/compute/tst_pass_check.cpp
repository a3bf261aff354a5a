// SPDX-License-Identifier: GPL-3.0-or-later
// What a backend refuses to compute, each with its place, what was found and what was expected.
#include "engine/base/error.h"
#include "engine/compute/pass_check.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <functional>
#include <string>

using namespace spanscope;
using namespace spanscope::compute;
using spanscope::product_text::worded;

namespace {

/// Two runs of two rows. The second run reads three blocks.
struct Asked {
  AttentionShape shape{.queryHeads = 4, .keyHeads = 2, .headSize = 4, .scale = 1};
  RotaryTable rotary{.inverseFrequencies = {1.0, 0.5}};
  KvShape store{.layers = 1, .blocks = 5, .blockSize = 2, .heads = 2, .headSize = 4};
  PassInputs inputs;

  Asked() {
    inputs.tokens = {1, 2, 3, 4};
    inputs.localIndices = {0, 1, 4, 5};
    inputs.slots = {2, 3, 8, 9};
    inputs.runs = {{.firstRow = 0, .rowCount = 2, .base = 0, .keys = {}},
                   {.firstRow = 2,
                    .rowCount = 2,
                    .base = 0,
                    .keys = {{.blocks = {1, 2, 4}, .begin = 0, .end = 6, .base = 0, .causal = true}}}};
    inputs.logitRows = {3};
    inputs.hiddenRows = {0};
    inputs.draws = {{.logits = 0, .settings = {}, .index = 0}};
    inputs.mass.runs = {1};
  }

  std::string refusal() const {
    try {
      checkPass(shape, rotary, store, inputs);
    } catch (const Failure& failure) {
      return failure.what();
    }
    return {};
  }
};

using Change = std::function<void(Asked&)>;

}  // namespace

Q_DECLARE_METATYPE(Change)

class TestPassCheck : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void takesWhatFits() {
    Asked asked;
    QCOMPARE(asked.refusal(), std::string());
    asked.inputs = {};
    QCOMPARE(asked.refusal(), std::string());
  }

  void refusesWhatDoesNot_data() {
    QTest::addColumn<Change>("change");
    QTest::addColumn<QString>("message");
    const auto add = [](const char* name, const Change& change, const char* message) {
      QTest::newRow(name) << change << worded(message);
    };
    add(
        "another head size", [](Asked& a) { a.shape.headSize = 8; },
        "attention: Spanscope found 4 query heads, 2 key heads of 8, but needs 2 key heads of 4 "
        "<kv-store-multiple>");
    add(
        "heads without a key head", [](Asked& a) { a.shape.queryHeads = 3; },
        "attention: Spanscope found 3 query heads");
    add(
        "a shorter rotary table", [](Asked& a) { a.rotary.inverseFrequencies.pop_back(); },
        "rotary table: Spanscope found 1 frequencies, but needs 2");
    add(
        "fewer slots", [](Asked& a) { a.inputs.slots.pop_back(); },
        "pass: Spanscope found <lists-different-lengths>");
    add(
        "more indices", [](Asked& a) { a.inputs.localIndices.push_back(6); },
        "pass: Spanscope found <lists-different-lengths>");
    add(
        "a slot behind the store", [](Asked& a) { a.inputs.slots[1] = 10; },
        "pass, slot: Spanscope found 10, but needs 0 to 9");
    add(
        "a slot before it", [](Asked& a) { a.inputs.slots[1] = -1; }, "pass, slot: Spanscope found -1");
    add(
        "an index below 0", [](Asked& a) { a.inputs.localIndices[0] = -1; },
        "pass, <position-in-segment>: Spanscope found -1, but needs at least 0");
    add(
        "logits of no row", [](Asked& a) { a.inputs.logitRows = {4}; },
        "pass, <row-wanted>: Spanscope found 4, but needs less than 4");
    add(
        "a state of no row", [](Asked& a) { a.inputs.hiddenRows = {-1}; },
        "pass, <row-wanted>: Spanscope found -1");
    add(
        "a draw from no logits", [](Asked& a) { a.inputs.draws[0].logits = 1; },
        "pass, draw: Spanscope found 1, but needs one of 1 rows of logits");
    add(
        "a run behind the rows", [](Asked& a) { a.inputs.runs[1].firstRow = 4; },
        "attention, query run 1, first row: Spanscope found 4, but needs less than 4");
    add(
        "a run that is too long", [](Asked& a) { a.inputs.runs[1].rowCount = 3; },
        "attention, query run 1, row count: Spanscope found 3, but needs 1 to 2");
    add(
        "a run of nothing", [](Asked& a) { a.inputs.runs[0].rowCount = 0; },
        "attention, query run 0, row count: Spanscope found 0");
    add(
        "indices that fall", [](Asked& a) { a.inputs.localIndices[3] = 3; },
        "attention, query run 1, <position-in-segment>: Spanscope found 3, but needs <least-row-before> 4");
    add(
        "keys before the segment", [](Asked& a) { a.inputs.runs[1].keys[0].begin = -1; },
        "attention, query run 1, <begin-key-range>: Spanscope found -1");
    add(
        "keys behind their blocks", [](Asked& a) { a.inputs.runs[1].keys[0].end = 7; },
        "attention, query run 1, <end-key-range>: Spanscope found 7, but needs at most 6");
    add(
        "a range that ends before it begins",
        [](Asked& a) {
          a.inputs.runs[1].keys[0] = {{1}, 2, 1, 0, false};
        },
        "attention, query run 1, <end-key-range>: Spanscope found 1, but needs <least-begin> 2");
    add(
        "a block that there is not", [](Asked& a) { a.inputs.runs[1].keys[0].blocks[2] = 5; },
        "attention, query run 1, key block: Spanscope found 5, but needs 0 to 4");
    add(
        "the mass of no run", [](Asked& a) { a.inputs.mass.runs = {2}; },
        "pass, <run-whose-mass>: Spanscope found 2, but needs less than 2");
  }
  void refusesWhatDoesNot() {
    QFETCH(Change, change);
    QFETCH(QString, message);
    Asked asked;
    change(asked);
    const QString refusal = QString::fromStdString(asked.refusal());
    QVERIFY2(refusal.startsWith(message), qPrintable(refusal));
  }
};

SPANSCOPE_TEST(tst_pass_check, TestPassCheck)
#include "tst_pass_check.moc"
