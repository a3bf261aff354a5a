// SPDX-License-Identifier: GPL-3.0-or-later
// Names of models in logs, and the models of this machine that they mean.
#include "engine/workbench/finder/named_models.h"
#include "tests/support/test_program.h"

#include <QTest>

using namespace spanscope::workbench;

class TestNamedModels : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void findsModels_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("path");
    QTest::newRow("name of the hub") << "Qwen/Qwen3-0.6B"
                                     << "/hub/qwen";
    QTest::newRow("without organization") << "qwen3-0.6b"
                                          << "/hub/qwen";
    QTest::newRow("Ollama's tag") << "llama3.2:1b"
                                  << "/m/Llama-3.2-1B-Instruct-Q4_K_M.gguf";
    QTest::newRow("other weights") << "meta-llama/Llama-3.2-1B-Instruct-FP8"
                                   << "/m/Llama-3.2-1B-Instruct-Q4_K_M.gguf";
    QTest::newRow("file") << "/models/Llama-3.2-1B-Instruct-Q8_0.gguf"
                          << "/m/Llama-3.2-1B-Instruct-Q4_K_M.gguf";
    QTest::newRow("another size") << "llama3.2:3b"
                                  << "";
    QTest::newRow("a service") << "gpt-4o"
                               << "";
    QTest::newRow("no name") << ""
                             << "";
    QTest::newRow("only a format") << "q4_0.gguf"
                                   << "";
  }
  void findsModels() {
    QFETCH(QString, name);
    QFETCH(QString, path);
    const std::vector<ModelPlace> places{
        {.keeper = ModelKeeper::HuggingFace, .name = "Qwen/Qwen3-0.6B", .path = "/hub/qwen", .problem = {}},
        {.keeper = ModelKeeper::LlamaCpp,
         .name = "a",
         .path = "/m/Llama-3.2-1B-Instruct-Q4_K_M.gguf",
         .problem = {}},
        {.keeper = ModelKeeper::Ollama, .name = "llama3.2:3b", .path = {}, .problem = "broken"}};
    const auto found = modelNamed(places, name.toStdString());
    QCOMPARE(found ? QString::fromStdString(found->string()) : QString(), path);
  }
};

SPANSCOPE_TEST(tst_named_models, TestNamedModels)
#include "tst_named_models.moc"
