// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/model/config.h"
#include "tests/support/test_program.h"

#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <nlohmann/json.hpp>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>

using namespace spanscope;
using namespace spanscope::model;
using nlohmann::json;

namespace {

json smallest() {
  return json{{"model_type", "llama"},   {"vocab_size", 100},      {"hidden_size", 64},
              {"intermediate_size", 96}, {"num_hidden_layers", 2}, {"num_attention_heads", 8}};
}

json llama3Fields() {
  return json{{"factor", 32.0},
              {"low_freq_factor", 1.0},
              {"high_freq_factor", 4.0},
              {"original_max_position_embeddings", 8192}};
}

ModelConfig parsed(const json& document) {
  return parseConfig(document.dump(), "config.json");
}

/// What parsing fails with; an empty error if it does not.
Error failureOf(const std::string& text) {
  try {
    parseConfig(text, "config.json");
  } catch (const Failure& failure) {
    return failure.error();
  }
  return {};
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

bool near(double actual, double expected) {
  return std::abs(actual - expected) <= 1e-12 * std::abs(expected);
}

}  // namespace

class TestConfig : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void defaults() {
    const ModelConfig config = parsed(smallest());
    ModelConfig expected;
    expected.architecture = "LlamaForCausalLM";
    expected.vocabularySize = 100;
    expected.hiddenSize = 64;
    expected.intermediateSize = 96;
    expected.layers = 2;
    expected.heads = 8;
    expected.keyValueHeads = 8;
    expected.headSize = 8;
    expected.normEpsilon = 1e-6F;
    expected.attention.rotary->theta = 10000;
    expected.maxPositions = 2048;
    QVERIFY(config.endTokens.size() == 1 && config.endTokens[0].token == 2);
    expected.endTokens = config.endTokens;
    QVERIFY(config == expected);
  }

  /// What AutoConfig of transformers 5.24 has for a file that states only its model type.
  void familyDefaults_data() {
    QTest::addColumn<QList<int>>("sizes");  // of vocabulary, token, product; layers, heads, KV heads, head
    QTest::addColumn<int>("positions");
    QTest::addColumn<float>("epsilon");
    QTest::addColumn<bool>("tied");
    QTest::addColumn<double>("theta");       // of the first layer without a window
    QTest::addColumn<double>("localTheta");  // of the first layer with one
    QTest::addColumn<QString>("windows");    // of the first eight layers
    QTest::addColumn<int>("end");            // −1: none
    const auto row = [](const char* type, const QList<int>& sizes, int positions, float epsilon, bool tied,
                        double theta, double localTheta, const QString& windows, int end) {
      QTest::newRow(type) << sizes << positions << epsilon << tied << theta << localTheta << windows << end;
    };
    const QString none = "0 0 0 0 0 0 0 0";
    row("llama", {32000, 4096, 11008, 32, 32, 32, 128}, 2048, 1e-6F, false, 1e4, 0, none, 2);
    row("mistral", {32000, 4096, 14336, 32, 32, 8, 128}, 131072, 1e-6F, false, 0, 1e4,
        "4096 4096 4096 4096 4096 4096 4096 4096", 2);
    row("ministral3", {131072, 4096, 14336, 34, 32, 8, 128}, 262144, 1e-5F, false, 1e6, 0, none, 2);
    row("qwen2", {151936, 4096, 22016, 32, 32, 32, 128}, 32768, 1e-6F, false, 1e4, 0, none, -1);
    row("qwen3", {151936, 4096, 22016, 32, 32, 32, 128}, 32768, 1e-6F, false, 1e4, 0, none, -1);
    row("gemma3_text", {262208, 2304, 9216, 26, 8, 4, 256}, 131072, 1e-6F, true, 1e6, 1e4,
        "4096 4096 4096 4096 4096 0 4096 4096", 1);
    row("phi3", {32064, 3072, 8192, 32, 32, 32, 96}, 4096, 1e-5F, false, 1e4, 0, none, 32000);
    row("granite", {32000, 4096, 11008, 32, 32, 32, 128}, 2048, 1e-6F, false, 1e4, 0, none, 2);
    row("olmo2", {50304, 4096, 11008, 32, 32, 32, 128}, 2048, 1e-5F, false, 1e4, 0, none, 50279);
    row("olmo3", {50304, 4096, 11008, 32, 32, 32, 128}, 2048, 1e-5F, false, 5e5, 5e5,
        "4096 4096 4096 0 4096 4096 4096 0", 50279);
    row("smollm3", {128256, 2048, 11008, 36, 16, 4, 128}, 32768, 1e-6F, true, 2e6, 0, none, 128001);
  }
  void familyDefaults() {
    QFETCH(QList<int>, sizes);
    QFETCH(int, positions);
    QFETCH(float, epsilon);
    QFETCH(bool, tied);
    QFETCH(double, theta);
    QFETCH(double, localTheta);
    QFETCH(QString, windows);
    QFETCH(int, end);
    const ModelConfig config = parsed({{"model_type", QTest::currentDataTag()}});
    QCOMPARE(config.endTokenIds(), end < 0 ? std::vector<TokenId>() : std::vector<TokenId>{end});
    QCOMPARE((QList<int>{config.vocabularySize, config.hiddenSize, config.intermediateSize, config.layers,
                         config.heads, config.keyValueHeads, config.headSize}),
             sizes);
    QCOMPARE(config.maxPositions, positions);
    QCOMPARE(config.normEpsilon, epsilon);
    QCOMPARE(config.tiedEmbeddings, tied);
    QStringList found;
    double thetas[2] = {0, 0};
    for (std::int32_t layer = 0; layer < config.layers; ++layer) {
      const AttentionKind& kind = config.kind(config.kindOf(layer));
      if (layer < 8) found += QString::number(kind.window);
      if (kind.rotary) thetas[kind.window > 0 ? 1 : 0] = kind.rotary->theta;
    }
    QCOMPARE(found.join(' '), windows);
    QCOMPARE(thetas[0], theta);
    QCOMPARE(thetas[1], localTheta);
  }

  /// The same for files that lack only some fields.
  void fieldsThatAFileLacks() {
    // Ministral 3 without a word of its scaling.
    const ModelConfig ministral = parsed({{"model_type", "ministral3"}});
    QVERIFY(ministral.attention.rotary->yarn == (YarnScaling{16, 32, 1, 16384, true}));
    QCOMPARE(ministral.attention.positionScale.beta, 0.1F);
    QCOMPARE(ministral.attention.positionScale.step, 16384);
    // Phi-3 with divisors: the original context is 4096, whatever the scaling says.
    json divisors = {{"type", "longrope"}, {"original_max_position_embeddings", 500}};
    divisors["short_factor"] = std::vector<double>(48, 1.0);
    divisors["long_factor"] = std::vector<double>(48, 2.0);
    json phi = {{"model_type", "phi3"}, {"rope_scaling", divisors}, {"max_position_embeddings", 131072}};
    QCOMPARE(parsed(phi).attention.rotary->longRope->originalMaxPositions, 4096);
    phi["original_max_position_embeddings"] = 2048;
    QCOMPARE(parsed(phi).attention.rotary->longRope->originalMaxPositions, 2048);
    // A window that is null is none; one that is missing is that of the family.
    QCOMPARE(parsed({{"model_type", "mistral"}, {"sliding_window", nullptr}}).attention.window, 0);
    // Windows of the Qwens begin at layer 28.
    const json switched = {{"model_type", "qwen2"}, {"use_sliding_window", true}, {"num_hidden_layers", 30}};
    std::vector<std::int32_t> windows(28, 0);
    windows.resize(30, 4096);
    QCOMPARE(windowsOf(parsed(switched)), windows);
    // Those of SmolLM3 are in the layers that do not turn.
    const json smol = {{"model_type", "smollm3"},
                       {"use_sliding_window", true},
                       {"sliding_window", 64},
                       {"num_hidden_layers", 5}};
    QCOMPARE(windowsOf(parsed(smol)), (std::vector<std::int32_t>{0, 0, 0, 64, 0}));
    // Bases of their own, in the older and in the newer form.
    const ModelConfig gemma =
        parsed({{"model_type", "gemma3_text"}, {"rope_theta", 10000}, {"rope_local_base_freq", 777}});
    QCOMPARE(gemma.kind(0).rotary->theta, 777.0);
    QCOMPARE(gemma.kind(1).rotary->theta, 10000.0);
    const ModelConfig nested =
        parsed({{"model_type", "olmo3"},
                {"rope_parameters",
                 {{"full_attention", {{"rope_type", "linear"}, {"factor", 8}, {"rope_theta", 1000}}},
                  {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 2000}}}}}});
    QCOMPARE(nested.kind(0).rotary->theta, 2000.0);
    QCOMPARE(nested.kind(0).rotary->linearFactor, 1.0);
    QCOMPARE(nested.kind(1).rotary->theta, 1000.0);
    QCOMPARE(nested.kind(1).rotary->linearFactor, 8.0);
  }

  /// The published form of Gemma 3 1B, which does not say that its embeddings are tied.
  void gemma3AsPublished() {
    const std::filesystem::path path =
        std::filesystem::path(SPANSCOPE_GOLDEN_DIR) / "../cases/models/gemma3-1b-config.json";
    if (!std::filesystem::exists(path)) QSKIP("the real inputs are not here");
    std::ifstream file(path);
    const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    const ModelConfig config = parseConfig(text, path.string());
    QVERIFY(config.tiedEmbeddings);
    QCOMPARE(windowsOf(config), (std::vector<std::int32_t>{4, 4, 4, 4, 4, 0}));
    QCOMPARE(config.kind(0).rotary->theta, 1e4);
    QCOMPARE(config.kind(1).rotary->theta, 1e6);
  }

  void nullMeansAbsent() {
    json document = smallest();
    for (const char* name : {"num_key_value_heads", "head_dim", "rope_scaling", "rope_parameters",
                             "rms_norm_eps", "tie_word_embeddings", "quantization_config", "architectures"}) {
      document[name] = nullptr;
    }
    QVERIFY(parsed(document) == parsed(smallest()));
  }

  /// A model type names an end token for a file that does not mention one.
  void endTokensByDefault() {
    json document = smallest();
    QCOMPARE(parsed(document).endTokenIds(), std::vector<TokenId>{2});
    document["eos_token_id"] = nullptr;
    QVERIFY(parsed(document).endTokens.empty());
    document.erase("eos_token_id");
    document["vocab_size"] = 2;
    QVERIFY(parsed(document).endTokens.empty());

    QTemporaryDir temporary;
    const std::filesystem::path path(temporary.path().toStdString());
    write(path / "config.json", smallest().dump());
    QCOMPARE(readConfig(path).endTokenIds(), std::vector<TokenId>{2});
    write(path / "generation_config.json", "{\"eos_token_id\": [5]}");
    QCOMPARE(readConfig(path).endTokenIds(), std::vector<TokenId>{5});
    write(path / "generation_config.json", "{}");
    QVERIFY(readConfig(path).endTokens.empty());
  }

  void everythingStated() {
    json document = smallest();
    document.update({{"architectures", {"LlamaForCausalLM"}},
                     {"num_key_value_heads", 2},
                     {"head_dim", 32},
                     {"rms_norm_eps", 1e-5},
                     {"rope_theta", 500000},
                     {"tie_word_embeddings", true},
                     {"attention_bias", true},
                     {"mlp_bias", true},
                     {"max_position_embeddings", 131072},
                     {"eos_token_id", {7, 99}},
                     {"hidden_act", "silu"},
                     {"block_attention", true},
                     {"made_for", "short questions"},
                     {"something_unknown", {{"a", 1}}}});
    const ModelConfig config = parsed(document);
    QCOMPARE(config.keyValueHeads, 2);
    QCOMPARE(config.headSize, 32);
    QCOMPARE(config.normEpsilon, 1e-5F);
    QCOMPARE(config.attention.rotary->theta, 500000.0);
    QVERIFY(config.tiedEmbeddings && config.attentionBias && config.mlpBias && config.blockAttention);
    QCOMPARE(config.maxPositions, 131072);
    QCOMPARE(config.endTokenIds(), (std::vector<TokenId>{7, 99}));
    QCOMPARE(config.madeFor, std::string("short questions"));
  }

  void ropeForms_data() {
    QTest::addColumn<QByteArray>("fields");
    QTest::addColumn<double>("theta");
    QTest::addColumn<bool>("scaled");
    const auto row = [](const char* name, const json& fields, double theta, bool scaled) {
      QTest::newRow(name) << QByteArray::fromStdString(fields.dump()) << theta << scaled;
    };
    json older = llama3Fields(), oldest = llama3Fields(), newer = llama3Fields();
    older["rope_type"] = "llama3";
    oldest["type"] = "llama3";
    newer.update({{"rope_type", "llama3"}, {"rope_theta", 5e5}});
    row("older, nothing", json::object(), 1e4, false);
    row("older, plain", {{"rope_theta", 5e5}, {"rope_scaling", nullptr}}, 5e5, false);
    row("older, default", {{"rope_theta", 5e5}, {"rope_scaling", {{"rope_type", "default"}}}}, 5e5, false);
    row("older, scaled", {{"rope_theta", 5e5}, {"rope_scaling", older}}, 5e5, true);
    row("older, by the name type", {{"rope_theta", 5e5}, {"rope_scaling", oldest}}, 5e5, true);
    row("newer, plain", {{"rope_parameters", {{"rope_theta", 5e5}, {"rope_type", "default"}}}}, 5e5, false);
    row("newer, without a type", {{"rope_parameters", {{"rope_theta", 5e5}}}}, 5e5, false);
    row("newer, scaled", {{"rope_parameters", newer}}, 5e5, true);
    row("newer, theta outside", {{"rope_theta", 5e5}, {"rope_parameters", older}}, 5e5, true);
    row("both, agreeing", {{"rope_theta", 5e5}, {"rope_scaling", older}, {"rope_parameters", newer}}, 5e5,
        true);
  }
  void ropeForms() {
    QFETCH(QByteArray, fields);
    QFETCH(double, theta);
    QFETCH(bool, scaled);
    json document = smallest();
    document.update(json::parse(fields.toStdString()));
    const ModelConfig config = parsed(document);
    QCOMPARE(config.attention.rotary->theta, theta);
    QCOMPARE(config.attention.rotary->llama3.has_value(), scaled);
    if (scaled) QVERIFY(config.attention.rotary->llama3 == (Llama3Scaling{32, 1, 4, 8192}));
  }

  void originalPositionsDefault() {
    json document = smallest();
    json scaling = llama3Fields();
    scaling["rope_type"] = "llama3";
    scaling.erase("original_max_position_embeddings");
    document.update({{"rope_scaling", scaling}, {"max_position_embeddings", 4096}});
    QCOMPARE(parsed(document).attention.rotary->llama3->originalMaxPositions, 4096);
  }

  void refused_data() {
    QTest::addColumn<QByteArray>("fields");  // a string instead of an object: the field to leave out
    QTest::addColumn<QString>("place");
    const auto row = [](const char* name, const json& fields, const char* place) {
      QTest::newRow(name) << QByteArray::fromStdString(fields.dump()) << QString(place);
    };
    for (const char* name :
         {"vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads"}) {
      const std::string place = std::string("/") + name;
      row((std::string("zero ") + name).c_str(), {{name, 0}}, place.c_str());
      row((std::string("negative ") + name).c_str(), {{name, -8}}, place.c_str());
      row((std::string("huge ") + name).c_str(), {{name, 9000000000000000000}}, place.c_str());
      row((std::string("above 63 bits ") + name).c_str(), {{name, 18446744073709551615U}}, place.c_str());
      row((std::string("fraction ") + name).c_str(), {{name, 64.5}}, place.c_str());
      row((std::string("text ") + name).c_str(), {{name, "64"}}, place.c_str());
      row((std::string("true ") + name).c_str(), {{name, true}}, place.c_str());
      row((std::string("null ") + name).c_str(), {{name, nullptr}}, place.c_str());
    }
    row("no model type", "model_type", "/model_type");
    row("another model type", {{"model_type", "mamba"}}, "/model_type");
    row("two families", {{"model_type", "qwen2"}, {"architectures", {"LlamaForCausalLM"}}}, "/model_type");
    row("a window of nothing", {{"model_type", "mistral"}, {"sliding_window", 0}}, "/sliding_window");
    row("windows without the switch",
        {{"model_type", "qwen3"},
         {"num_key_value_heads", 8},
         {"layer_types", {"full_attention", "sliding_attention"}}},
        "/layer_types");
    row("a kind for too few layers", {{"model_type", "gemma3_text"}, {"layer_types", {"full_attention"}}},
        "/layer_types");
    row("layers of another kind",
        {{"model_type", "olmo3"}, {"layer_types", {"full_attention", "linear_attention"}}}, "/layer_types");
    row("experts of Gemma 4", {{"model_type", "gemma4_text"}, {"enable_moe_block", true}},
        "/enable_moe_block");
    row("another table for the vectors of layers",
        {{"model_type", "gemma4_text"}, {"vocab_size_per_layer_input", 7}}, "/vocab_size_per_layer_input");
    row("no layer with keys of a kind",
        {{"model_type", "gemma4_text"},
         {"vocab_size_per_layer_input", 100},
         {"num_kv_shared_layers", 1},
         {"layer_types", {"sliding_attention", "full_attention"}}},
        "/layer_types");
    json heads = json::object();
    for (int layer = 0; layer < 300; ++layer) heads[std::to_string(layer)] = {{"head_dim", 2 * layer + 16}};
    row("more kinds of layers than a byte has",
        {{"model_type", "gemma4_text"},
         {"vocab_size_per_layer_input", 100},
         {"num_hidden_layers", 300},
         {"per_layer_config", heads}},
        "/layer_types");
    row("turning layers for too few", {{"model_type", "smollm3"}, {"no_rope_layers", {1}}},
        "/no_rope_layers");
    row("a soft cap", {{"model_type", "gemma3_text"}, {"final_logit_softcapping", 30}},
        "/final_logit_softcapping");
    row("an encoder", {{"model_type", "gemma3_text"}, {"use_bidirectional_attention", true}},
        "/use_bidirectional_attention");
    row("biases of Phi", {{"model_type", "phi3"}, {"attention_bias", true}}, "/attention_bias");
    row("a part that is odd", {{"partial_rotary_factor", 0.4}}, "/partial_rotary_factor");
    row("nothing is turned", {{"partial_rotary_factor", 0}}, "/partial_rotary_factor");
    row("too few divisors",
        {{"rope_scaling", {{"type", "longrope"}, {"short_factor", {1, 1}}, {"long_factor", {1, 1, 1, 1}}}}},
        "/rope_scaling/short_factor");
    row("a divisor of 0",
        {{"rope_scaling",
          {{"type", "longrope"}, {"short_factor", {1, 1, 0, 1}}, {"long_factor", {1, 1, 1, 1}}}}},
        "/rope_scaling/short_factor/2");
    row("another architecture", {{"architectures", {"MambaForCausalLM"}}}, "/architectures");
    row("architectures as text", {{"architectures", "LlamaForCausalLM"}}, "/architectures");
    row("architectures as numbers", {{"architectures", {1}}}, "/architectures/0");
    row("another activation", {{"hidden_act", "gelu"}}, "/hidden_act");
    row("quantised", {{"quantization_config", {{"bits", 4}}}}, "/quantization_config");
    row("kv heads do not divide", {{"num_key_value_heads", 3}}, "/num_key_value_heads");
    row("more kv heads", {{"num_key_value_heads", 16}}, "/num_key_value_heads");
    row("no kv heads", {{"num_key_value_heads", 0}}, "/num_key_value_heads");
    row("heads do not divide", {{"num_attention_heads", 7}}, "/hidden_size");
    row("odd head size", {{"head_dim", 7}}, "/head_dim");
    row("head size derived odd", {{"hidden_size", 24}}, "/head_dim");
    row("head size derived 1", {{"hidden_size", 8}}, "/head_dim");
    row("head size 0", {{"head_dim", 0}}, "/head_dim");
    row("huge head size", {{"head_dim", 4096}}, "/head_dim");
    row("huge derived head size", {{"hidden_size", 65536}, {"num_attention_heads", 1}}, "/head_dim");
    row("epsilon 0", {{"rms_norm_eps", 0}}, "/rms_norm_eps");
    row("negative epsilon", {{"rms_norm_eps", -1e-6}}, "/rms_norm_eps");
    row("epsilon as text", {{"rms_norm_eps", "1e-6"}}, "/rms_norm_eps");
    row("theta 0", {{"rope_theta", 0}}, "/rope_theta");
    row("negative theta", {{"rope_theta", -10000}}, "/rope_theta");
    row("huge theta", {{"rope_theta", 1e300}}, "/rope_theta");
    row("no positions", {{"max_position_embeddings", 0}}, "/max_position_embeddings");
    row("huge positions", {{"max_position_embeddings", 1099511627776}}, "/max_position_embeddings");
    row("end token beyond", {{"eos_token_id", 100}}, "/eos_token_id");
    row("negative end token", {{"eos_token_id", {7, -1}}}, "/eos_token_id/1");
    row("end token as text", {{"eos_token_id", "</s>"}}, "/eos_token_id");
    row("tied as number", {{"tie_word_embeddings", 1}}, "/tie_word_embeddings");
    row("a purpose that is no text", {{"made_for", 3}}, "/made_for");
    row("a purpose without end", {{"made_for", std::string(401, 'x')}}, "/made_for");
    row("block attention as text", {{"block_attention", "yes"}}, "/block_attention");
    row("rope scaling as text", {{"rope_scaling", "llama3"}}, "/rope_scaling");
    row("linear scaling by nothing", {{"rope_scaling", {{"type", "linear"}}}}, "/rope_scaling/factor");
    row("yarn by 0", {{"rope_parameters", {{"rope_type", "yarn"}, {"factor", 0}}}},
        "/rope_parameters/factor");
    row("dynamic scaling", {{"rope_scaling", {{"type", "dynamic"}, {"factor", 2}}}}, "/rope_scaling/type");
    for (const char* name : {"factor", "low_freq_factor", "high_freq_factor"}) {
      json scaling = llama3Fields();
      scaling["rope_type"] = "llama3";
      const std::string place = std::string("/rope_scaling/") + name;
      scaling[name] = 0;
      row((std::string("llama3 with zero ") + name).c_str(), {{"rope_scaling", scaling}}, place.c_str());
      scaling.erase(name);
      row((std::string("llama3 without ") + name).c_str(), {{"rope_scaling", scaling}}, place.c_str());
    }
    json scaling = llama3Fields();
    scaling.update({{"rope_type", "llama3"}, {"high_freq_factor", 1.0}});
    row("llama3 factors meet", {{"rope_scaling", scaling}}, "/rope_scaling/high_freq_factor");
    scaling = llama3Fields();
    scaling.update({{"rope_type", "llama3"}, {"original_max_position_embeddings", 0}});
    row("llama3 from no positions", {{"rope_scaling", scaling}},
        "/rope_scaling/original_max_position_embeddings");
    scaling = llama3Fields();
    scaling["rope_type"] = "llama3";
    row("two scalings", {{"rope_scaling", scaling}, {"rope_parameters", {{"rope_type", "default"}}}},
        "/rope_parameters");
    row("two thetas", {{"rope_theta", 10000}, {"rope_parameters", {{"rope_theta", 20000}}}},
        "/rope_parameters/rope_theta");
  }
  void refused() {
    QFETCH(QByteArray, fields);
    QFETCH(QString, place);
    json document = smallest();
    const json change = json::parse(fields.toStdString());
    if (change.is_string()) {
      document.erase(change.get<std::string>());
    } else {
      document.update(change);
    }
    const Error error = failureOf(document.dump());
    QCOMPARE(QString::fromStdString(error.file), QString("config.json"));
    // "line:column: /pointer"
    const QString found = QString::fromStdString(error.place);
    const QRegularExpressionMatch match = QRegularExpression("^[1-9]\\d*:[1-9]\\d*: (/.*)$").match(found);
    QVERIFY2(match.hasMatch(), error.place.c_str());
    QCOMPARE(match.captured(1), place);
    QVERIFY(!error.found.empty());
    QVERIFY(!error.expected.empty());
  }

  void notEvenJson_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("empty") << QByteArray("");
    QTest::newRow("cut") << QByteArray("{\"model_type\": \"lla");
    QTest::newRow("two documents") << QByteArray("{} {}");
    QTest::newRow("NUL after") << QByteArray("{\"model_type\": \"llama\"}\0more", 28);
    QTest::newRow("an array") << QByteArray("[1, 2]");
    QTest::newRow("a number") << QByteArray("12");
    QTest::newRow("NaN") << QByteArray("{\"rms_norm_eps\": NaN}");
    QTest::newRow("infinite") << QByteArray("{\"rms_norm_eps\": 1e999}");
    QTest::newRow("not UTF-8") << QByteArray("{\"model_type\": \"\xff\xfe\"}");
    QTest::newRow("a name twice") << QByteArray("{\"model_type\": \"llama\", \"model_type\": \"llama\"}");
    QTest::newRow("a name twice inside") << QByteArray("{\"a\": [{\"b\": 1, \"b\": 2}]}");
    QTest::newRow("deep") << QByteArray("{\"a\": ") + QByteArray(100000, '[') + QByteArray(100000, ']') + '}';
    QTest::newRow("deep and cut") << QByteArray("{\"a\": ") + QByteArray(1000000, '[');
    QTest::newRow("large") << QByteArray("{\"a\": \"") + QByteArray(17 << 20, 'x') + "\"}";
  }
  void notEvenJson() {
    QFETCH(QByteArray, text);
    const Error error = failureOf(text.toStdString());
    QCOMPARE(QString::fromStdString(error.file), QString("config.json"));
    QVERIFY(!error.expected.empty());
    QVERIFY(error.message().size() < 400);
  }

  void directory() {
    QTemporaryDir temporary;
    const std::filesystem::path path(temporary.path().toStdString());
    QVERIFY_EXCEPTION_THROWN(readConfig(path), Failure);
    json document = smallest();
    document["eos_token_id"] = 3;
    write(path / "config.json", document.dump());
    QCOMPARE(readConfig(path).endTokenIds(), std::vector<TokenId>{3});
    QCOMPARE(readConfig(path).maxNewTokens, 0);
    write(path / "generation_config.json", "{\"max_new_tokens\": 64}");
    QCOMPARE(readConfig(path).endTokenIds(), std::vector<TokenId>{3});
    QCOMPARE(readConfig(path).maxNewTokens, 64);
    write(path / "generation_config.json", "{\"eos_token_id\": [5, 3]}");
    QCOMPARE(readConfig(path).endTokens,
             (std::vector<EndToken>{{3, {"config.json", "generation_config.json"}},
                                    {5, {"generation_config.json"}}}));
    for (const char* wrong : {"{\"eos_token_id\": 100}", "{\"max_new_tokens\": -1}", "[]", "", "{"}) {
      write(path / "generation_config.json", wrong);
      QVERIFY_EXCEPTION_THROWN(readConfig(path), Failure);
    }
    std::filesystem::remove(path / "config.json");
    std::filesystem::create_directory(path / "config.json");
    QVERIFY_EXCEPTION_THROWN(readConfig(path), Failure);
  }

  void fingerprints() {
    const ModelConfig config = parsed(smallest());
    const auto differs = [&config](auto change) {
      ModelConfig other = config;
      change(other);
      return fingerprint(other) != fingerprint(config);
    };
    QVERIFY(differs([](ModelConfig& c) { c.layers = 3; }));
    QVERIFY(differs([](ModelConfig& c) { c.keyValueHeads = 4; }));
    QVERIFY(differs([](ModelConfig& c) { c.normEpsilon = 1.0000001e-6F; }));
    QVERIFY(differs(
        [](ModelConfig& c) { c.attention.rotary->theta = std::nextafter(c.attention.rotary->theta, 0); }));
    QVERIFY(differs([](ModelConfig& c) { c.attentionBias = true; }));
    QVERIFY(differs([](ModelConfig& c) { c.outputBias = true; }));
    QVERIFY(differs([](ModelConfig& c) { c.queryKeyNorm = QueryKeyNorm::Heads; }));
    QVERIFY(differs([](ModelConfig& c) { c.attention.rotary->factors = {2}; }));
    QVERIFY(differs([](ModelConfig& c) { c.attention.rotary->llama3 = Llama3Scaling{}; }));
    QVERIFY(!differs([](ModelConfig& c) { c.maxNewTokens = 9; }));
    QVERIFY(differs([](ModelConfig& c) { c.attention.window = 9; }));
    QVERIFY(differs([](ModelConfig& c) { c.attention.rotary.reset(); }));
    QVERIFY(differs([](ModelConfig& c) { c.attention.rotary->turned = 4; }));
    QVERIFY(differs([](ModelConfig& c) { c.attention.rotary->yarn = YarnScaling{}; }));
    QVERIFY(differs([](ModelConfig& c) { c.attention.rotary->attentionScale = 1.25F; }));
    QVERIFY(differs([](ModelConfig& c) { c.residualScale = 0.5F; }));
    QVERIFY(differs([](ModelConfig& c) { c.activation = compute::Activation::GeluTanh; }));
    QVERIFY(differs([](ModelConfig& c) { c.norms = NormPlace::After; }));
    QVERIFY(differs([](ModelConfig& c) { c.attentionSinks = true; }));
    QVERIFY(differs([](ModelConfig& c) { c.experts = {.count = 4, .choice = {.used = 2}}; }));
    QVERIFY(differs([](ModelConfig& c) { c.normKind = NormKind::Layer; }));
    QVERIFY(differs([](ModelConfig& c) { c.attentionCap = 50; }));
    QVERIFY(differs([](ModelConfig& c) { c.attention.rotary->firstPairs = 2; }));
    QVERIFY(differs([](ModelConfig& c) { c.attention.headSize = 4; }));
    QVERIFY(differs([](ModelConfig& c) { c.attention.keyValueHeads = 1; }));
    QVERIFY(differs([](ModelConfig& c) { c.attention.valuesAreKeys = true; }));
    QVERIFY(differs([](ModelConfig& c) { c.sharingLayers = 1; }));
    QVERIFY(differs([](ModelConfig& c) { c.valueNorm = true; }));
    QVERIFY(differs([](ModelConfig& c) { c.perLayerSize = 8; }));
    QVERIFY(differs([](ModelConfig& c) { c.layerScale = true; }));
    QVERIFY(differs([](ModelConfig& c) {
      c.otherKinds = {AttentionKind{.window = 5}};
      c.layerKinds = {0, 1};
    }));
  }

  /// Older files of Gemma 4 have the heads of all layers without a window in two fields.
  void headsOfLayersHaveTwoForms() {
    std::ifstream file(SPANSCOPE_TEST_DATA_DIR "/gemma4_same/config.json");
    const json newer = json::parse(file);
    json older = newer;
    older.erase("per_layer_config");
    older.update({{"global_head_dim", 16}, {"num_global_key_value_heads", 2}});
    const ModelConfig config = parsed(newer);
    QVERIFY(parsed(older) == config);
    QCOMPARE(config.headSizeOf(config.kind(1)), 16);
    QCOMPARE(config.keyValueHeadsOf(config.kind(1)), 2);
    const compute::KvShape shape = kvShapeOf(config, 2, 16, compute::DType::F32);
    QCOMPARE(shape.slotElements(), std::int64_t{4 * 12 + 4 * 12 + 2 * 16});
  }

  void publishedCheckpointsAreKnown_data() {
    QTest::addColumn<bool>("isKnown");
    QTest::newRow("Tulu3-Block-FT") << true;
    QTest::newRow("models--hxia7--Qwen3-8B-Block-FT/snapshots/0123abcd") << true;
    QTest::newRow("qwen3-4b-blockdist") << true;
    QTest::newRow("Tulu3-SFT") << false;
    QTest::newRow("my-Tulu3-Block-FT-notes") << false;
  }
  void publishedCheckpointsAreKnown() {
    QFETCH(bool, isKnown);
    const QTemporaryDir folder;
    const std::filesystem::path path =
        std::filesystem::path(folder.path().toStdString()) / QTest::currentDataTag();
    std::filesystem::create_directories(path);
    write(path / "config.json", smallest().dump());
    QCOMPARE(readConfig(path).blockAttention, isKnown);
  }

  void rotaryTable() {
    ModelConfig config = parsed(smallest());
    config.headSize = 4;
    config.attention.rotary->theta = 10000;
    const auto plain = makeRotaryTable(config);
    QCOMPARE(plain.inverseFrequencies.size(), std::size_t{2});
    QCOMPARE(plain.attentionScale, 1.0F);
    QVERIFY(near(plain.inverseFrequencies[0], 1.0));
    QVERIFY(near(plain.inverseFrequencies[1], 0.01));
  }

  /// Against the published table's three regions, with wavelengths worked out apart from the code.
  void llama3Scaling() {
    ModelConfig config = parsed(smallest());
    config.headSize = 64;
    config.attention.rotary->theta = 500000;
    config.attention.rotary->llama3 = Llama3Scaling{32, 1, 4, 8192};
    const auto table = makeRotaryTable(config);
    config.attention.rotary->llama3.reset();
    const auto plain = makeRotaryTable(config);
    const double pi = std::acos(-1.0);
    int kept = 0, between = 0, divided = 0;
    for (std::size_t i = 0; i < 32; ++i) {
      const double f = plain.inverseFrequencies[i];
      const double wavelength = 2 * pi / f;
      const double actual = table.inverseFrequencies[i];
      if (wavelength < 2048) {
        QVERIFY(near(actual, f));
        ++kept;
      } else if (wavelength > 8192) {
        QVERIFY(near(actual, f / 32));
        ++divided;
      } else {
        const double smooth = (8192 / wavelength - 1) / 3;
        QVERIFY(near(actual, (1 - smooth) * f / 32 + smooth * f));
        QVERIFY(actual < f && actual > f / 32);
        ++between;
      }
    }
    QVERIFY(kept > 0 && between > 0 && divided > 0);
  }
};

SPANSCOPE_TEST(tst_config, TestConfig, QCoreApplication)
#include "tst_config.moc"
