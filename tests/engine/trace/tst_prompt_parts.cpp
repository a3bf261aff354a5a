// SPDX-License-Identifier: GPL-3.0-or-later
// The sections of a prompt: from the trace, or made of its segments.
#include "engine/trace/prompt_parts.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace spanscope;
using trace::PartInfo;
using trace::PartRange;
using trace::PartRole;
using trace::PromptDivided;
using trace::PromptParts;
using trace::SegmentInfo;

namespace {

SegmentInfo segment(std::uint32_t scope, bool independent, bool hidden = false, std::size_t tokens = 2) {
  SegmentInfo info;
  info.scope = scope;
  info.depth = scope == 0 ? 0 : 1;
  info.independent = independent;
  info.hidden = hidden;
  info.tokens.resize(tokens);
  return info;
}

std::vector<PartRole> rolesOf(const PromptParts& parts) {
  std::vector<PartRole> roles;
  for (std::size_t part = 0; part < parts.size(); ++part) roles.push_back(parts.role(part));
  return roles;
}

/// One segment of system, two documents and a question, as the policy prefix has it.
PromptDivided plainPrompt() {
  return {.parts = {{"/s", false}, {"/d/0", true}, {"/d/1", true}, {"/q", false}},
          .ranges = {{0, 0, 0, 3}, {1, 0, 3, 7}, {2, 0, 7, 9}, {3, 0, 9, 12}}};
}

}  // namespace

class TestPromptParts : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void segmentsAreParts_data() {
    QTest::addColumn<std::vector<SegmentInfo>>("segments");
    QTest::addColumn<std::vector<PartRole>>("roles");
    using Segments = std::vector<SegmentInfo>;
    using Roles = std::vector<PartRole>;
    const auto own = PartRole::Own;
    const auto context = PartRole::Context;
    const auto source = PartRole::Source;
    const auto hidden = PartRole::Hidden;
    const SegmentInfo system = segment(0, false);
    QTest::newRow("spans") << Segments{system, segment(1, true), segment(2, true), system}
                           << Roles{context, source, source, own};
    QTest::newRow("a part within a document")
        << Segments{system, segment(1, true), segment(2, true), segment(1, false), system}
        << Roles{context, source, source, context, own};
    QTest::newRow("linked beginnings")
        << Segments{system, segment(1, true), segment(2, false), segment(2, true), system}
        << Roles{context, source, source, source, own};
    QTest::newRow("blended copies") << Segments{system,
                                                segment(1, true, true),
                                                segment(2, true, true),
                                                segment(1, false),
                                                segment(2, false),
                                                system}
                                    << Roles{context, hidden, hidden, source, source, own};
    QTest::newRow("behind a prefix") << Segments{system, segment(1, false), segment(2, false), system}
                                     << Roles{context, source, source, own};
    QTest::newRow("one segment") << Segments{system} << Roles{own};
  }
  void segmentsAreParts() {
    QFETCH(std::vector<SegmentInfo>, segments);
    QFETCH(std::vector<PartRole>, roles);
    QCOMPARE(rolesOf(PromptParts(segments, nullptr)), roles);
  }

  void aSegmentHoldsSeveral() {
    const PromptDivided divided = plainPrompt();
    const PromptParts parts(std::vector{segment(0, false, false, 12)}, &divided);
    QCOMPARE(rolesOf(parts),
             (std::vector{PartRole::Context, PartRole::Source, PartRole::Source, PartRole::Own}));
    QCOMPARE(parts.partAt(0, 0), std::optional<std::uint32_t>(0));
    QCOMPARE(parts.partAt(0, 6), std::optional<std::uint32_t>(1));
    QCOMPARE(parts.partAt(0, 7), std::optional<std::uint32_t>(2));
    // A token of the answer.
    QCOMPARE(parts.partAt(0, 40), std::optional<std::uint32_t>(3));
    QCOMPARE(parts.partAt(1, 0), std::optional<std::uint32_t>());
    QCOMPARE(parts.tokens(1), std::int64_t{4});
  }

  /// As the policy link has it: a document is its beginning, computed again, and the rest.
  void aPartHasSeveralSegments() {
    const PromptDivided divided{.parts = {{"/s", false}, {"/d/0", true}, {"/q", false}},
                                .ranges = {{0, 0, 0, 2}, {1, 1, 0, 2}, {1, 2, 0, 5}, {2, 3, 0, 2}}};
    SegmentInfo rest = segment(1, true, false, 5);
    rest.visibleBegin = 2;
    const PromptParts parts(std::vector{segment(0, false), segment(1, false), rest, segment(0, false)},
                            &divided);
    QCOMPARE(rolesOf(parts), (std::vector{PartRole::Context, PartRole::Source, PartRole::Own}));
    QCOMPARE(parts.tokens(1), std::int64_t{5});
    trace::SegmentAttention row;
    row.index = 0;
    row.keySegments = {0, 1, 2, 3};
    row.layers = {4};
    row.heads = 1;
    row.mass = {0.1F, 0.25F, 0.25F, 0.4F};
    row.first = {0.1F, 0.125F, 0.0625F, 0.0F};
    const trace::PartAttention joined = byPart(row, parts);
    QCOMPARE(joined.keyParts, (std::vector<std::uint32_t>{0, 1, 2}));
    QCOMPARE(joined.mass, (std::vector<float>{0.1F, 0.5F, 0.4F}));
    // What counts as looked at for nothing is the part's first token alone.
    QCOMPARE(joined.first, (std::vector<float>{0.1F, 0.125F, 0.0F}));
  }

  void sharesAreOfSources() {
    const PromptDivided divided = plainPrompt();
    const PromptParts parts(std::vector{segment(0, false, false, 12)}, &divided);
    const trace::PartAttention row{.index = 0,
                                   .keyParts = {0, 1, 2, 3},
                                   .layers = {1},
                                   .heads = 1,
                                   .mass = {0.25F, 0.5F, 0.125F, 0.125F},
                                   .first = {0.25F, 0.25F, 0.0F, 0.0F}};
    const std::vector<const trace::PartAttention*> rows{&row};
    const std::vector<double> shares = sourceShares(parts, rows);
    QCOMPARE(shares, (std::vector<double>{0, 0.8, 0.2, 0}));
  }
};

SPANSCOPE_TEST(tst_prompt_parts, TestPromptParts)
#include "tst_prompt_parts.moc"
