// SPDX-License-Identifier: GPL-3.0-or-later
// The bundled queries with the bundled model on the emulated GPU, from the command line down: greedy tokens
// equal those of the processor for the same ids, or its two best logits differ by less than the error of the
// arithmetic.
#include "app/cli/cli.h"
#include "engine/experiment/table_pass.h"
#include "engine/model/decoder.h"
#include "engine/trace/trace_file.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cuda/backend/cuda_backend.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

using namespace spanscope;

namespace {

/// Of the best logit: what bf16 through all layers of the bundled model may be off.
constexpr float kGap = 0.05F;
const QString kQueries = QStringLiteral(SPANSCOPE_SOURCE_DIR "/resources/queries/");
const std::filesystem::path kModel = SPANSCOPE_SOURCE_DIR "/resources/models/spanlet";

/// What a request was asked, and what it replied.
struct Answer {
  layout::SpanTable table;
  std::vector<TokenId> tokens;
};

layout::SpanTable tableOf(const trace::SpanTableLaidOut& event) {
  layout::SpanTable table;
  for (const trace::SegmentInfo& info : *event.segments) {
    layout::Segment segment;
    segment.independent = info.independent;
    segment.hidden = info.hidden;
    segment.scope = info.scope;
    segment.depth = info.depth;
    segment.base = info.base;
    segment.visibleBegin = info.visibleBegin;
    segment.sees = info.sees;
    segment.tokens = info.tokens;
    table.segments.push_back(std::move(segment));
  }
  return table;
}

std::vector<Answer> answersOf(const std::filesystem::path& path) {
  std::map<RequestId, Answer> answers;
  for (const trace::Event& event : trace::readTrace(path).events) {
    if (const auto* table = std::get_if<trace::SpanTableLaidOut>(&event.payload))
      answers[event.request].table = tableOf(*table);
    if (const auto* token = std::get_if<trace::TokenGenerated>(&event.payload))
      answers[event.request].tokens.push_back(token->token);
  }
  std::vector<Answer> result;
  for (auto& [id, answer] : answers) {
    if (!answer.tokens.empty()) result.push_back(std::move(answer));
  }
  return result;
}

}  // namespace

class TestExamples : public QObject {
  Q_OBJECT

 private:
  QTemporaryDir m_folder;
  compute::Backends m_backends;
  std::shared_ptr<cuda::GraphCounts> m_counts = std::make_shared<cuda::GraphCounts>();
  std::unique_ptr<compute::Backend> m_processor;
  std::unique_ptr<model::WeightSource> m_weights;
  std::unique_ptr<model::Decoder> m_decoder;
  int m_same = 0;
  int m_all = 0;

  /// Runs the file on the card; false if it could not be.
  bool run(const QString& file, const QString& policy, const std::string& trace) const {
    const std::vector<std::string> words = {"spanq",
                                            "run",
                                            "--device",
                                            "cuda",
                                            "--top-k",
                                            "1",
                                            "--policy",
                                            policy.toStdString(),
                                            "--trace",
                                            trace,
                                            (kQueries + file).toStdString()};
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    // What a query may ask.
    for (int i = 0; i < 3; ++i)
      arguments.insert(arguments.end(), {"--answer", "My name is Otto. I apply for a position at Globex"});
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    const int code = cli::runCli(static_cast<int>(arguments.size()), arguments.data(),
                                 {.in = in, .out = out, .err = err}, m_backends, {});
    if (code != 0) qWarning("%s", err.str().c_str());
    // Nothing is ticked off on a device whose rows are only close.
    return code == 0 && out.str().find("full prefill ≈") != std::string::npos &&
           out.str().find("✓") == std::string::npos;
  }

  /// Compares an answer with the processor's results for the same ids.
  void check(const Answer& answer) {
    layout::SpanTable table = answer.table;
    std::vector<TokenId>& last = table.segments.back().tokens;
    last.insert(last.end(), answer.tokens.begin(), answer.tokens.end());
    const auto first = table.tokenCount() - static_cast<std::int64_t>(answer.tokens.size());
    experiment::computeTable(
        *m_decoder, *m_processor, table, [&](std::int64_t position, std::span<const float> logits) {
          const std::int64_t next = position + 1 - first;
          if (next < 0 || next >= static_cast<std::int64_t>(answer.tokens.size())) return;
          const auto token = static_cast<std::size_t>(answer.tokens[static_cast<std::size_t>(next)]);
          const float best = *std::max_element(logits.begin(), logits.end());
          const float gap = best - logits[token];
          ++m_all;
          m_same += gap == 0.0F ? 1 : 0;
          QVERIFY2(gap <= kGap * std::abs(best),
                   qPrintable(QString("token %1: %2 below %3").arg(next).arg(gap).arg(best)));
        });
  }

 private Q_SLOTS:
  void initTestCase() {
    compute::BackendKind card = cuda::cudaBackendKind();
    card.make = [counts = m_counts](const compute::BackendOptions& options) {
      // An emulated card is too slow for a limit in milliseconds.
      return cuda::makeCudaBackend(
          {.device = options.device,
           .work = {.mostMilliseconds = std::numeric_limits<double>::infinity(), .counts = counts}});
    };
    m_backends = compute::Backends({cpu::cpuBackendKind(), card});
    m_processor = m_backends.choose("cpu").kind.make({});
    m_weights = model::openSafetensors(kModel);
    m_decoder = std::make_unique<model::Decoder>(model::readConfig(kModel), *m_weights, *m_processor);
  }

  void tokensAreThoseOfTheProcessor_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<QString>("policy");
    for (const char* folder : {"", "builtins/"}) {
      for (const QFileInfo& file : QDir(kQueries + folder).entryInfoList(QDir::Files, QDir::Name))
        QTest::newRow(qPrintable(folder + file.fileName())) << folder + file.fileName() << "spans";
    }
    for (const char* file : {"rag.json", "list-and-combine.json"})
      QTest::addRow("%s, prefix", file) << file << "prefix";
  }
  void tokensAreThoseOfTheProcessor() {
    QFETCH(QString, file);
    QFETCH(QString, policy);
    const std::string trace = m_folder.filePath("run.trace").toStdString();
    QVERIFY(run(file, policy, trace));
    const std::vector<Answer> answers = answersOf(trace);
    QVERIFY(!answers.empty());
    for (const Answer& answer : answers) check(answer);
  }

  void cleanupTestCase() {
    qInfo("%d of %d greedy tokens are those of the processor; %lld graphs, %lld replays", m_same, m_all,
          static_cast<long long>(m_counts->captures), static_cast<long long>(m_counts->replays));
    QVERIFY(m_all > 0 && m_same * 20 >= m_all * 19);
    QVERIFY(m_counts->replays > m_counts->captures);
  }
};

SPANSCOPE_TEST(tst_examples, TestExamples, QCoreApplication)
#include "tst_examples.moc"
