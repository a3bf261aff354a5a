// SPDX-License-Identifier: GPL-3.0-or-later
// The sections of a query have their names and numbers in every view, whatever segments the policy makes of
// them.
#include "engine/layout/layouts.h"
#include "engine/metrics/trace_stats.h"
#include "engine/policy/link/link.h"
#include "engine/policy/policies.h"
#include "engine/query/json/json.h"
#include "engine/trace/report.h"
#include "engine/workbench/document/document_query.h"
#include "engine/workbench/document/edits.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"
#include "tests/ui/views/common/recorded_runs.h"
#include "ui/session/token_account.h"
#include "ui/views/attention/attention_model.h"
#include "ui/views/attention/head_grid.h"
#include "ui/views/attention/share_bar.h"
#include "ui/views/block_table/block_table_model.h"
#include "ui/views/common/segment_names.h"
#include "ui/views/output/output_model.h"
#include "ui/views/prediction/prediction_table.h"
#include "ui/views/tokens/token_strip_model.h"

#include <QTest>

#include <cmath>
#include <memory>
#include <numeric>

using namespace spanscope;
using namespace spanscope::ui;

namespace {

const QStringList kSources{QStringLiteral("document 1"), QStringLiteral("document 2"),
                           QStringLiteral("document 3")};
const QStringList kParts{QStringLiteral("system"), QStringLiteral("document 1"), QStringLiteral("document 2"),
                         QStringLiteral("document 3"), QStringLiteral("question")};

}  // namespace

class TestPartsEverywhere : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void partsHaveTheirNames_data() {
    QTest::addColumn<QString>("policy");
    QTest::addColumn<int>("layout");
    QTest::addColumn<bool>("everyToken");
    for (const policy::Policy* policy : policy::policies()) {
      for (const layout::LayoutInfo& layout : layout::layouts()) {
        for (const bool everyToken : {false, true}) {
          QTest::addRow("%s, %s%s", policy->name, layout.name, everyToken ? ", every token recorded" : "")
              << QString::fromLatin1(policy->name) << static_cast<int>(layout.layout) << everyToken;
        }
      }
    }
  }

  void partsHaveTheirNames() {
    QFETCH(QString, policy);
    QFETCH(int, layout);
    QFETCH(bool, everyToken);
    const policy::Policy* own = nullptr;
    for (const policy::Policy* each : policy::policies()) {
      if (policy == QLatin1String(each->name)) own = each;
    }
    QVERIFY(own != nullptr);
    test::RunRecorder recorder;
    document::Document document = test::exampleDocument("rag.json");
    document.settings.policy = own->name;
    document.settings.layout = layout::infoOf(static_cast<layout::Layout>(layout)).name;
    for (int run = 0; run < 2; ++run)
      recorder.run(document, *own, everyToken, static_cast<layout::Layout>(layout));
    const ViewInput input = recorder.recorded().input();
    const RequestId request = input.shownRequest();

    const TokenStrip strip = tokenStrip(input);
    QStringList names;
    for (const StripSegment& segment : strip.segments) names << segment.name;
    QCOMPARE(names, kParts);

    BlockHistory history;
    history.follow(input.trace);
    const TableRow row = blockTable(input, history).rows.back();
    names.clear();
    double end = 0;
    for (const TablePart& part : row.parts) {
      if (part.hidden || part.generated) continue;
      names << part.name;
      // Brackets follow each other without overlap.
      QVERIFY(double(part.first) + part.begin >= end - 1e-9);
      end = double(part.last) + part.end;
    }
    QCOMPARE(names, kParts);

    const ShareModel shares = shareModel(input);
    names.clear();
    double sum = 0;
    double mass = 0;
    for (const SharePiece& piece : shares.pieces) {
      mass += piece.mass;
      if (piece.kind != ShareKind::Source) continue;
      names << piece.name;
      sum += piece.share;
    }
    QCOMPARE(names, kSources);
    QVERIFY2(std::abs(sum - 1) < 1e-6, qPrintable(QString::number(sum)));
    QVERIFY2(std::abs(mass - 1) < 1e-3, qPrintable(QString::number(mass)));
    // Single keys separate question and answer.
    const bool hasAnswer =
        std::any_of(shares.pieces.begin(), shares.pieces.end(),
                    [](const SharePiece& piece) { return piece.kind == ShareKind::Answer; });
    QCOMPARE(hasAnswer, everyToken);
    const HeadGrid heads = headGrid(input);
    QCOMPARE(QStringList(heads.names.begin(), heads.names.end()), kSources);

    AttentionOptions options;
    options.rowSet = AttentionRowSet::Answer;
    options.grain = AttentionGrain::Segments;
    const AttentionModel map = attentionModel(input, options);
    names.clear();
    for (const AttentionSegment& segment : map.segments) {
      if (segment.columns > 0) names << segment.name;
    }
    // Of several segments that are one part, the map of a policy with one segment for each part shows all.
    QCOMPARE(names, kParts);
    QVERIFY(map.recorded);
    for (std::size_t r = 0; r < map.rows.size(); ++r) {
      double whole = 0;
      for (std::int32_t column = 0; column < map.columns; ++column)
        whole += static_cast<double>(map.mass[map.at(static_cast<std::int32_t>(r), column)]);
      // The attention of a team's answer to the others is a separate share.
      const bool isTeam = policy == QLatin1String("views");
      QVERIFY2(std::abs(whole - 1) < 1e-3 || isTeam, qPrintable(QString::number(whole)));
    }

    // Blocks of the whole prompt are named and coloured by section, too: brackets are side by side in both
    // directions, and a cell names the sections of the tokens in its block.
    options.rowSet = AttentionRowSet::All;
    options.grain = AttentionGrain::Blocks;
    const AttentionModel blocks = attentionModel(input, options);
    names.clear();
    std::vector<std::size_t> hues;
    double columns = -1;
    double rows = -1;
    for (const AttentionPart& part : blocks.parts) {
      QVERIFY(part.columns > 0 && part.rows > 0);
      QVERIFY(part.firstColumn >= columns - 1e-9 && part.firstRow >= rows - 1e-9);
      columns = part.firstColumn + part.columns;
      rows = part.firstRow + part.rows;
      names << part.name;
      hues.push_back(part.hue);
      QVERIFY(part.id != document::kNoNode);
      const auto middle = static_cast<std::int32_t>(part.firstColumn + part.columns / 2);
      const auto lower = static_cast<std::int32_t>(part.firstRow + part.rows / 2);
      QVERIFY2(blocks.nameOfColumn(middle).contains(part.name), qPrintable(blocks.nameOfColumn(middle)));
      QVERIFY2(attentionReadout(blocks, options, lower, middle).contains(part.name), qPrintable(part.name));
    }
    QCOMPARE(names, kParts);
    QCOMPARE(columns, double(blocks.columns - blocks.segments.back().answerColumns));
    QCOMPARE(rows, double(blocks.rows.size()));
    for (std::size_t part = 0; part < hues.size(); ++part)
      QCOMPARE(hues[part], static_cast<std::size_t>(strip.segments[part].hue));

    // The prediction has the same sections, and its prompt has the account of the run.
    ViewInput next = input;
    next.prediction.newest = recorder.predict(document);
    const PredictionTable prediction = predictionTable(next, Against::Present);
    names.clear();
    TokenAccount predicted;
    run::CountRange cached;
    run::CountRange relocated;
    run::CountRange again;
    std::int64_t beside = 0;
    for (const PredictionSegment& part : prediction.steps.back().segments) {
      if (part.isHidden)
        beside += part.account.total();
      else
        names << part.name;
      if (part.isHidden) continue;
      predicted += part.account;
      cached += part.cached;
      relocated += part.relocated;
      again += part.again;
    }
    QCOMPARE(names, kParts);
    const PredictionCounts& counts = prediction.steps.back().counts;
    QVERIFY(counts.prompt.known() && counts.cached.known() && counts.again.known() &&
            counts.computed.known());
    QCOMPARE(counts.prompt.least, counts.cached.least + counts.again.least + counts.computed.least);
    QCOMPARE(predicted.total(), counts.prompt.least);
    QCOMPARE(predicted.cached() + predicted.again, counts.cached.least + counts.again.least);
    // Under policies that choose by values, parts have bounds only.
    QVERIFY(cached.holds(counts.cached.least) && again.holds(counts.again.least));
    QVERIFY(relocated.least <= counts.relocated.least && counts.relocated.most <= relocated.most);
    QVERIFY(prediction.steps.back().ran->again == 0 || counts.again.least > 0);
    QCOMPARE(predicted.computed, counts.computed.least);
    QCOMPARE(std::optional(predicted.padding), counts.padding);
    QCOMPARE(std::optional(predicted.delimiters), counts.delimiters);
    QCOMPARE(beside, counts.beside.least);

    // Each token is in one column of the account.
    RequestAccount account(input, request);
    const TokenAccount prompt = account.prompt();
    QCOMPARE(prompt.total(), static_cast<std::int64_t>(strip.prompt - strip.cropped));
    QCOMPARE(prompt.total(), counts.prompt.least);
    QCOMPARE(std::optional(prompt.padding), counts.padding);
    QCOMPARE(std::optional(prompt.delimiters), counts.delimiters);
    QCOMPARE(std::optional(prompt.cropped), counts.cropped);
    QVERIFY(prediction.steps.back().ran == prompt);
    QCOMPARE(account.beside(), beside);
    TokenAccount parts;
    const RequestParts reported = requestParts(input, request);
    for (const trace::PartRange& range : reported.parts.visible())
      parts += account.of(range.segment, range.begin, range.end);
    // Cropped tokens are in no section of the prompt.
    parts.cropped = prompt.cropped;
    QVERIFY(parts == prompt);
    const auto countOf = [&strip](StripPart part) {
      return static_cast<std::int64_t>(
          std::ranges::count(strip.tokens, part, [](const StripToken& token) { return token.part; }));
    };
    QCOMPARE(prompt.padding, countOf(StripPart::Pad));
    QCOMPARE(prompt.delimiters, countOf(StripPart::Marker));
    QCOMPARE(prompt.cropped, static_cast<std::int64_t>(strip.cropped));
    // Whatever the layout does, without what it added and with what it left out it is the same text.
    QCOMPARE(account.done().text(), std::int64_t{83});
    QCOMPARE(account.done().total(), prompt.total());

    // Every view says the same of it.
    const auto isSaidIn = [](const QString& text, const QString& words) {
      return QTest::qVerify(text.contains(words), qPrintable(text), qPrintable(words), __FILE__, __LINE__);
    };
    const QString output = answerFacts(outputModel(input).answers.front());
    const QString note = blockTable(input, history).rows.back().extras.join(QLatin1Char(' '));
    std::int64_t inCells = 0;
    for (const TableCell& cell : blockTable(input, history).rows.back().cells) inCells += cell.again;
    QCOMPARE(inCells, prompt.again);
    const metrics::PromptAccount run = accountOf(listRuns(input, false).back());
    QVERIFY(run.prompt == prompt);
    for (const QString& words : accountWords(prompt)) {
      for (const QString& place : {output, note}) QVERIFY(isSaidIn(place, words));
    }
    if (beside > 0) {
      for (const QString& place : {output, note}) QVERIFY(isSaidIn(place, QString::number(beside)));
    }
    const metrics::PromptAccount replayed = metrics::stats(input.trace->events()).account;
    TokenAccount both;
    for (const auto& [id, state] : input.state().progress().requests)
      both += RequestAccount(input, id).prompt();
    QVERIFY(replayed.prompt == both);
    QCOMPARE(prompt.again, static_cast<std::int64_t>(strip.recomputed));
    std::int64_t found = 0;
    for (const StripToken& token : strip.tokens) {
      const bool isPrompt = !token.generated && token.part != StripPart::Cropped;
      if (isPrompt && (token.role == BlockRole::Hit || token.role == BlockRole::Relocated)) ++found;
    }
    QCOMPARE(prompt.cached(), found);
  }

  /// Beginnings of documents that have moved are cache hits, and recomputed with attention to all tokens
  /// before them. So are those of unmoved documents after others that have moved.
  void movedBeginningsAreComputedAgain_data() {
    QTest::addColumn<int>("layout");
    for (const layout::LayoutInfo& layout : layout::layouts())
      QTest::addRow("%s", layout.name) << static_cast<int>(layout.layout);
  }

  void movedBeginningsAreComputedAgain() {
    QFETCH(int, layout);
    const auto own = static_cast<layout::Layout>(layout);
    test::RunRecorder recorder;
    document::Document rag = test::exampleDocument("rag.json");
    rag.settings.policy = policy::kLink.name;
    rag.settings.layout = layout::infoOf(own).name;
    recorder.run(rag, policy::kLink, false, own);
    const ViewInput first = recorder.recorded().input();
    const TokenAccount cold = RequestAccount(first, first.shownRequest()).prompt();
    QCOMPARE(cold.again, std::int64_t{0});
    QCOMPARE(cold.computed, cold.total());

    const document::Document swapped = test::swapped(rag);
    const std::shared_ptr<const DocumentPrediction> prediction = recorder.predict(swapped);
    const run::AccountPrediction said =
        run::accountOf(prediction->present.steps.back(), prediction->blockSize);
    recorder.run(swapped, policy::kLink, false, own);
    const ViewInput input = recorder.recorded().input();
    RequestAccount account(input, input.shownRequest());
    const TokenAccount prompt = account.prompt();
    QVERIFY(prompt.again > 0);
    // Nothing of the documents is new.
    const RequestParts reported = requestParts(input, input.shownRequest());
    TokenAccount documents;
    for (const trace::PartRange& range : reported.parts.visible()) {
      if (reported.parts.info(range.part).inPlus)
        documents += account.of(range.segment, range.begin, range.end);
    }
    QCOMPARE(documents.computed, std::int64_t{0});
    QCOMPARE(documents.again, prompt.again);
    QCOMPARE(static_cast<std::int64_t>(tokenStrip(input).recomputed), prompt.again);

    QVERIFY(said.again.known() && said.computed.known());
    QCOMPARE(said.prompt.least, prompt.total());
    QCOMPARE(said.cached.least, prompt.cached());
    QCOMPARE(said.relocated.least, prompt.relocated);
    QCOMPARE(said.again.least, prompt.again);
    QCOMPARE(said.computed.least, prompt.computed);
    QCOMPARE(said.beside.least, account.beside());
    QCOMPARE(said.padding, std::optional(prompt.padding));
    QCOMPARE(said.delimiters, std::optional(prompt.delimiters));
    QCOMPARE(said.cropped, std::optional(prompt.cropped));
  }

  /// Messages without names are numbered by their content, so swapped messages keep their names and hues.
  void swappedMessagesKeepTheirNames() {
    query::ParseResult parsed = query::parseJson(R"({"g": {"model": "spnl/spanlet", "max_tokens": 2, "input":
        {"cross": [{"user": "Mira lives in Lisbon."}, {"user": "Tarek is a baker."},
                   {"user": "Where does Mira live?"}]}}})");
    QVERIFY(parsed.query);
    document::Document document = document::fromQuery(*parsed.query);
    test::RunRecorder recorder;
    recorder.run(document, policy::kPrefix);
    const auto namesOf = [](ViewInput input) {
      input.identities = std::make_shared<const SegmentIdentities>(
          SegmentRecords().read(*input.document, *input.trace, input.paths));
      QStringList names;
      for (const PartName& part : requestParts(input, input.shownRequest()).names)
        names << QStringLiteral("%1 %2").arg(part.name).arg(part.hue);
      return names;
    };
    const QStringList before = namesOf(recorder.recorded().input());
    QCOMPARE(before.size(), 3);
    for (const document::NodeId id : document.ids()) {
      if (document.at(id).children.size() == 3) QVERIFY(document::swapChildren(document, id, 0, 1));
    }
    recorder.run(document, policy::kPrefix);
    QCOMPARE(namesOf(recorder.recorded().input()), (QStringList{before[1], before[0], before[2]}));
  }

  /// A template can add a system message that the query does not have. The section has the name of its
  /// source.
  void textOfTheTemplateHasItsName() {
    test::RunRecorder recorder;
    recorder.run(test::exampleDocument("rag.json"));
    test::Recorded recorded = recorder.recorded();
    for (trace::Event& event : recorded.events) {
      if (auto* divided = std::get_if<trace::PromptDivided>(&event.payload)) divided->parts.front().node = "";
    }
    const ViewInput input = recorded.input();
    const RequestParts parts = requestParts(input, input.shownRequest());
    QVERIFY2(product_text::says(parts.names.front().name, "<text-of-the-template>"),
             qPrintable(parts.names.front().name));
    QCOMPARE(parts.names.back().name, kParts.back());
  }
};

SPANSCOPE_TEST(tst_parts_everywhere, TestPartsEverywhere, QApplication)
#include "tst_parts_everywhere.moc"
