// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of checkpoints that data/make_families.py has made.
#include "engine/model/config.h"
#include "tests/support/product_text.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <filesystem>

using namespace spanscope;
using spanscope::product_text::says;
using spanscope::product_text::worded;

namespace {

model::ModelConfig configOf(const char* name) {
  return model::readConfig(std::filesystem::path(SPANSCOPE_TEST_DATA_DIR) / name);
}

}  // namespace

class TestSpecText : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void attention_data() {
    QTest::addColumn<QString>("text");
    QTest::newRow("qwen2_tied") << "2 layers attend to all tokens, base 1000000";
    QTest::newRow("f16_llama3") << "2 layers attend to all tokens, base 500000, llama3";
    QTest::newRow("mistral_window") << "2 layers attend to 11 tokens, base 10000";
    QTest::newRow("qwen2_window")
        << "1 layer attends to all tokens, base 10000; 2 layers attend to 7 tokens, base 10000";
    QTest::newRow("qwen3_yarn") << "2 layers attend to all tokens, base 10000, YaRN, × 4 from 64 tokens";
    QTest::newRow("llama_linear") << "2 layers attend to all tokens, base 10000, linear, × 4";
    QTest::newRow("ministral3") << worded(
        "3 layers attend to all tokens, base 10000, YaRN, × 16 from 16 tokens<queries-scaled-every> 16 "
        "tokens by 1 + 0.4 "
        "ln(1 + step)");
    QTest::newRow("smollm3")
        << "4 layers attend to all tokens, base 50000; 1 layer attends to all tokens, not rotated";
    QTest::newRow("phi3_short") << "2 layers attend to all tokens, base 10000, the first 12 of each head, "
                                   "LongRoPE, for up to 40 tokens";
    QTest::newRow("gemma3") << "6 layers attend to 8 tokens, base 10000; 1 layer attends to all tokens, base "
                               "1000000, linear, × 8";
    QTest::newRow("gemma2") << worded(
        "2 layers attend to 8 tokens, base 10000; 2 layers attend to all tokens, base "
        "10000<soft-cap-bounds-scores> 6");
    QTest::newRow("gemma4") << worded(
        "4 layers attend to 8 tokens, base 10000; 2 layers attend to all tokens, base 1000000, the first 2 "
        "pairs "
        "of each head; the last 3 layers <layers-read-other-keys>");
    QTest::newRow("olmo3") << "3 layers attend to 9 tokens, base 10000; 1 layer attends to all tokens, base "
                              "10000, YaRN, × 2 from 128 tokens";
  }
  void attention() {
    QFETCH(QString, text);
    QCOMPARE(QString::fromStdString(model::attentionText(configOf(QTest::currentDataTag()))), text);
  }

  void relocation() {
    const std::string plain = model::relocationText(configOf("qwen2_tied"));
    QVERIFY2(says(plain, "<same-at-every-place>"), plain.c_str());
    QVERIFY(plain.find("layers") == std::string::npos);
    const std::string windows = model::relocationText(configOf("gemma3"));
    QVERIFY(windows.starts_with(plain));
    QVERIFY(model::relocationText(configOf("mistral_window")).find("in 2 of 2 layers") != std::string::npos);
    QVERIFY(model::relocationText(configOf("ministral3")).find("in steps of 16 tokens") != std::string::npos);
    QVERIFY(says(windows, "in 6 of 7 layers <token-sees-last> 8 tokens"));
  }

  void longerContext() {
    model::ModelConfig config = configOf("phi3_long");
    QCOMPARE(config.maxPositions, 40);
    const std::string fingerprint = model::fingerprint(config);
    config.maxPositions = 256;
    model::fixContext(config, 41);
    QCOMPARE(config.maxPositions, 256);
    QVERIFY(model::fingerprint(config) != fingerprint);
    QVERIFY(model::attentionText(config).ends_with("LongRoPE, for more than 40 tokens"));
  }
};

SPANSCOPE_TEST(tst_spec_text, TestSpecText)
#include "tst_spec_text.moc"
