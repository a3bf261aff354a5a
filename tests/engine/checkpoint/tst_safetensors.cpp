// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/base/error.h"
#include "engine/checkpoint/mapped_file.h"
#include "engine/checkpoint/safetensors.h"
#include "engine/model/weights.h"
#include "tests/support/product_text.h"
#include "tests/support/random_values.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace spanscope;
using namespace spanscope::checkpoint;
using compute::DType;
using spanscope::product_text::worded;

namespace {

/// A file image: length, header, `dataBytes` bytes counting up.
std::string image(const std::string& header, std::size_t dataBytes) {
  std::string bytes;
  for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>((header.size() >> (8 * i)) & 0xFF);
  bytes += header;
  for (std::size_t i = 0; i < dataBytes; ++i) bytes += static_cast<char>(i);
  return bytes;
}

SafetensorsFile parsed(const std::string& bytes) {
  return parseSafetensors(std::as_bytes(std::span(bytes)), "file");
}

Error failureOf(const std::string& bytes) {
  try {
    parsed(bytes);
  } catch (const Failure& failure) {
    return failure.error();
  }
  return {};
}

/// "name": {dtype, shape, data_offsets}
std::string tensor(const std::string& name, const std::string& type, const std::string& shape,
                   const std::string& offsets) {
  return "\"" + name + "\":{\"dtype\":\"" + type + "\",\"shape\":[" + shape + "],\"data_offsets\":[" +
         offsets + "]}";
}

void write(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

Error openFailure(const std::filesystem::path& directory) {
  try {
    model::openSafetensors(directory);
  } catch (const Failure& failure) {
    return failure.error();
  }
  return {};
}

}  // namespace

class TestSafetensors : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void reads() {
    const std::string header = "{\"__metadata__\":{\"format\":\"pt\"}," + tensor("b", "F32", "2,1", "6,14") +
                               "," + tensor("a", "BF16", "3", "0,6") + "," +
                               tensor("scalar", "I64", "", "14,22") + "," +
                               tensor("none", "F16", "0,7", "14,14") + "}   ";
    const std::string bytes = image(header, 22);
    const SafetensorsFile file = parsed(bytes);
    QCOMPARE(file.tensors.size(), std::size_t{4});
    QCOMPARE(QString::fromStdString(file.metadata.at("format")), QString("pt"));
    const auto& a = file.tensors.at("a");
    QCOMPARE(a.shape, std::vector<std::uint64_t>{3});
    QVERIFY(a.type == DType::BF16);
    QCOMPARE(std::to_integer<int>(a.data[5]), 5);
    const auto& b = file.tensors.at("b");
    QCOMPARE(b.shape, (std::vector<std::uint64_t>{2, 1}));
    QCOMPARE(std::to_integer<int>(b.data[0]), 6);
    QVERIFY(file.tensors.at("scalar").shape.empty());
    QVERIFY(!file.tensors.at("scalar").type.has_value());
    QVERIFY(file.tensors.at("none").data.empty());
    QVERIFY(parsed(image("{}", 0)).tensors.empty());
  }

  void refused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("place");
    const auto raw = [](const char* name, const std::string& bytes, const char* place) {
      QTest::newRow(name) << QByteArray::fromStdString(bytes) << QString(place);
    };
    const auto row = [&raw](const char* name, const std::string& header, std::size_t data,
                            const char* place) { raw(name, image(header, data), place); };
    raw("empty", "", "");
    raw("seven bytes", std::string(7, '\0'), "");
    raw("no header", std::string(8, '\0'), "byte 8");
    raw("header longer than the file", std::string("\x03\0\0\0\0\0\0\0{}", 10), "byte 0");
    raw("huge header", std::string(8, '\xFF') + "{}", "byte 0");
    raw("header above the limit", std::string("\x01\xE1\xF5\x05\0\0\0\0{}", 10), "byte 0");
    raw("header cut", image("{" + tensor("a", "F32", "1", "0,4") + "}", 4).substr(0, 40), "byte 0");
    row("not JSON", "{x}", 0, "byte 10");
    row("not an object", "[]", 0, "byte 8");
    row("space first", " {}", 0, "byte 8");
    row("text after", "{} {}", 0, "byte 12");
    row("not UTF-8", "{\"\xFF\":1}", 0, "byte 11");
    row("NUL after", std::string("{}\0", 3), 0, "byte 10");
    row("deep", "{\"a\":" + std::string(100000, '['), 0, "\"a\"");
    row("deep objects", "{\"a\":{\"dtype\":{\"b\":{}}}}", 0, "\"a\"");
    row("tensor not an object", "{\"a\":1}", 0, "\"a\"");
    row("tensor null", "{\"a\":null}", 0, "\"a\"");
    row("metadata not text", "{\"__metadata__\":{\"a\":1}}", 0, "\"__metadata__\"");
    row("metadata not an object", "{\"__metadata__\":\"a\"}", 0, "\"__metadata__\"");
    row("metadata twice", "{\"__metadata__\":{},\"__metadata__\":{}}", 0, "\"__metadata__\"");
    row("metadata name twice", "{\"__metadata__\":{\"a\":\"1\",\"a\":\"2\"}}", 0, "\"__metadata__\"");
    row("tensor twice", "{" + tensor("a", "U8", "1", "0,1") + "," + tensor("a", "U8", "1", "0,1") + "}", 1,
        "\"a\"");
    row("no dtype", "{\"a\":{\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "\"a\"");
    row("no shape", "{\"a\":{\"dtype\":\"U8\",\"data_offsets\":[0,1]}}", 1, "\"a\"");
    row("no offsets", "{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1, "\"a\"");
    row("dtype twice", "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
        "\"a\"");
    row("shape twice", "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
        "\"a\"");
    row("a field too many", "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":1}}", 1,
        "\"a\"");
    row("dtype a number", "{\"a\":{\"dtype\":1,\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "\"a\"");
    row("shape a number", "{\"a\":{\"dtype\":\"U8\",\"shape\":1,\"data_offsets\":[0,1]}}", 1, "\"a\"");
    row("shape nested", "{\"a\":{\"dtype\":\"U8\",\"shape\":[[1]],\"data_offsets\":[0,1]}}", 1, "\"a\"");
    row("offsets an object", "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":{}}}", 1, "\"a\"");
    row("unknown type", "{" + tensor("a", "F33", "1", "0,4") + "}", 4, "\"a\"");
    row("negative dimension", "{" + tensor("a", "U8", "-1", "0,1") + "}", 1, "\"a\"");
    row("fractional dimension", "{" + tensor("a", "U8", "1.0", "0,1") + "}", 1, "\"a\"");
    row("dimension beyond 64 bits", "{" + tensor("a", "U8", "18446744073709551616", "0,1") + "}", 1, "\"a\"");
    row("dimension beyond a double", "{" + tensor("a", "U8", "1e999", "0,1") + "}", 1, "byte 41");
    row("product overflows", "{" + tensor("a", "U8", "4294967296,4294967296", "0,0") + "}", 0, "\"a\"");
    row("product wraps to the size", "{" + tensor("a", "F32", "4611686018427387905", "0,4") + "}", 4,
        "\"a\"");
    row("parts of bytes", "{" + tensor("a", "F4", "3", "0,1") + "}", 1, "\"a\"");
    std::string dimensions = "1";
    for (int i = 0; i < 64; ++i) dimensions += ",1";
    row("65 dimensions", "{" + tensor("a", "U8", dimensions, "0,1") + "}", 1, "\"a\"");
    row("one offset", "{" + tensor("a", "U8", "1", "0") + "}", 1, "\"a\"");
    row("three offsets", "{" + tensor("a", "U8", "1", "0,1,1") + "}", 1, "\"a\"");
    row("end before begin", "{" + tensor("a", "U8", "1", "1,0") + "}", 1, "\"a\"");
    row("beyond the file", "{" + tensor("a", "U8", "2", "0,2") + "}", 1, "\"a\"");
    row("far beyond the file",
        "{" + tensor("a", "U8", "18446744073709551615", "0,18446744073709551615") + "}", 1, "\"a\"");
    row("negative offset", "{" + tensor("a", "U8", "1", "-1,0") + "}", 1, "\"a\"");
    row("more data than the shape", "{" + tensor("a", "F32", "1", "0,8") + "}", 8, "\"a\"");
    row("less data than the shape", "{" + tensor("a", "F32", "2", "0,4") + "}", 4, "\"a\"");
    row("overlap", "{" + tensor("a", "U8", "4", "0,4") + "," + tensor("b", "U8", "4", "2,6") + "}", 6,
        "\"b\"");
    row("the same bytes", "{" + tensor("a", "U8", "4", "0,4") + "," + tensor("b", "U8", "4", "0,4") + "}", 4,
        "\"b\"");
    row("gap", "{" + tensor("a", "U8", "2", "0,2") + "," + tensor("b", "U8", "2", "4,6") + "}", 6, "\"b\"");
    row("gap at the start", "{" + tensor("a", "U8", "2", "2,4") + "}", 4, "\"a\"");
    row("data left over", "{" + tensor("a", "U8", "2", "0,2") + "}", 3, "");
    row("data without tensors", "{}", 1, "");
    row("empty tensor in the middle",
        "{" + tensor("a", "U8", "4", "0,4") + "," + tensor("b", "U8", "0", "2,2") + "}", 4, "\"b\"");
  }
  void refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, place);
    const Error error = failureOf(bytes.toStdString());
    QCOMPARE(QString::fromStdString(error.file), QString("file"));
    QCOMPARE(QString::fromStdString(error.place), place);
    QVERIFY(!error.found.empty());
    QVERIFY(!error.expected.empty());
    QVERIFY(error.message().size() < 400);
  }

  void everyCutIsRefused() {
    const std::string bytes =
        image("{" + tensor("a", "F32", "2", "0,8") + "," + tensor("b", "F32", "1", "8,12") + "}", 12);
    parsed(bytes);
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      QVERIFY2(!failureOf(bytes.substr(0, size)).expected.empty(), std::to_string(size).c_str());
    }
  }

  /// Any changed byte is refused or leaves tensors that lie in the data; both without a fault.
  void changedBytes() {
    const std::uint64_t seed = testing::testSeed(5);
    qInfo("seed %llu", static_cast<unsigned long long>(seed));
    testing::Random random(seed);
    const std::string bytes =
        image("{" + tensor("a", "F32", "2", "0,8") + "," + tensor("b", "F32", "1", "8,12") + "}", 12);
    int refusals = 0;
    for (int round = 0; round < 20000; ++round) {
      std::string changed = bytes;
      for (std::uint64_t i = 0; i < 1 + random.below(3); ++i) {
        changed[random.below(changed.size())] = static_cast<char>(random.below(256));
      }
      refusals += failureOf(changed).expected.empty() ? 0 : 1;
    }
    QVERIFY(refusals > 10000);
  }

  void directory() {
    QTemporaryDir temporary;
    const std::filesystem::path path(temporary.path().toStdString());
    QVERIFY(!openFailure(path).expected.empty());
    QVERIFY(!openFailure(path / "none").expected.empty());

    const std::string header = "{" + tensor("m", "BF16", "2,3", "0,12") + "," +
                               tensor("v", "F32", "2", "12,20") + "," + tensor("i", "I32", "1", "20,24") +
                               "}";
    write(path / "model.safetensors", image(header, 24));
    const auto source = model::openSafetensors(path);
    QVERIFY(source->has("m") && !source->has("x"));
    const auto matrix = source->get("m", 2, 3);
    QVERIFY(matrix.format == compute::WeightFormat::BF16);
    QCOMPARE(std::to_integer<int>(matrix.data[11]), 11);
    QCOMPARE(std::to_integer<int>(source->get("v", 1, 2).data[0]), 12);
    QVERIFY_EXCEPTION_THROWN(source->get("x", 1, 2), Failure);
    QVERIFY_EXCEPTION_THROWN(source->get("m", 3, 2), Failure);
    QVERIFY_EXCEPTION_THROWN(source->get("m", 1, 6), Failure);
    QVERIFY_EXCEPTION_THROWN(source->get("v", 2, 1), Failure);
    try {
      source->get("i", 1, 1);
      QFAIL("an integer weight was accepted");
    } catch (const Failure& failure) {
      QCOMPARE(QString(failure.what()), QString::fromStdString((path / "model.safetensors").string()) +
                                            ": i: Spanscope found type I32, but needs F32, F16 or BF16");
    }
  }

  void truncatedFile() {
    QTemporaryDir temporary;
    const std::filesystem::path path(temporary.path().toStdString());
    write(path / "model.safetensors", image("{" + tensor("a", "F32", "2", "0,8") + "}", 7));
    QCOMPARE(QString::fromStdString(openFailure(path).place), QString("\"a\""));
    QVERIFY(product_text::says(openFailure(path).expected, "<file-ends-early>"));
    write(path / "model.safetensors", "");
    QVERIFY(!openFailure(path).expected.empty());
    std::filesystem::remove(path / "model.safetensors");
    std::filesystem::create_directory(path / "model.safetensors");
    QCOMPARE(QString::fromStdString(openFailure(path).expected), QString("a regular file"));
  }

  void shards() {
    QTemporaryDir temporary;
    const std::filesystem::path path(temporary.path().toStdString());
    write(path / "one.safetensors", image("{" + tensor("a", "F32", "2", "0,8") + "}", 8));
    write(path / "two.safetensors",
          image("{" + tensor("b", "F32", "1", "0,4") + "," + tensor("extra", "U8", "1", "4,5") + "}", 5));
    const auto index = [&path](const std::string& map) {
      write(path / "model.safetensors.index.json", "{\"weight_map\":" + map + "}");
    };
    index("{\"a\":\"one.safetensors\",\"b\":\"two.safetensors\"}");
    const auto source = model::openSafetensors(path);
    QVERIFY(source->has("a") && source->has("b") && !source->has("extra"));
    QCOMPARE(source->get("b", 1, 1).rows, 1);

    index("{\"a\":\"two.safetensors\"}");
    QCOMPARE(QString::fromStdString(openFailure(path).place), QString("\"a\""));
    index("{\"a\":\"missing.safetensors\"}");
    QCOMPARE(QString::fromStdString(openFailure(path).file),
             QString::fromStdString((path / "missing.safetensors").string()));
    for (const char* name :
         {"../one.safetensors", "/etc/passwd", "sub/one.safetensors", "..", ".", "", "a\\\\b", "a\\u0000b"}) {
      index(std::string("{\"a\":\"") + name + "\"}");
      QCOMPARE(QString::fromStdString(openFailure(path).expected), worded("<name-file-same>"));
    }
    for (const char* wrong :
         {"[]", "{\"a\":1}", "\"x\"", "null", "{\"a\":\"one.safetensors\",\"a\":\"one.safetensors\"}"}) {
      index(wrong);
      QVERIFY2(!openFailure(path).expected.empty(), wrong);
    }
    write(path / "model.safetensors.index.json", "{}");
    QVERIFY(!openFailure(path).expected.empty());
    write(path / "model.safetensors.index.json", "");
    QVERIFY(!openFailure(path).expected.empty());
  }

  void fingerprints() {
    QTemporaryDir temporary;
    const std::filesystem::path path(temporary.path().toStdString());
    const auto fingerprint = [&path](const char* directory, const std::string& bytes) {
      std::filesystem::create_directory(path / directory);
      write(path / directory / "model.safetensors", bytes);
      return model::openSafetensors(path / directory)->fingerprint();
    };
    const std::string header = "{" + tensor("a", "U8", "100,400", "0,40000") + "}";
    const std::string bytes = image(header, 40000);
    const std::string first = fingerprint("first", bytes);
    QCOMPARE(first.size(), std::size_t{32});
    QCOMPARE(fingerprint("second", bytes), first);
    QVERIFY(fingerprint("shape", image("{" + tensor("a", "U8", "400,100", "0,40000") + "}", 40000)) != first);
    QVERIFY(fingerprint("name", image("{" + tensor("b", "U8", "100,400", "0,40000") + "}", 40000)) != first);
    std::string changed = bytes;
    changed.back() = 'x';
    QVERIFY(fingerprint("end", changed) != first);
    changed = bytes;
    changed[8 + header.size()] = 'x';
    QVERIFY(fingerprint("begin", changed) != first);
    const std::string small = image("{" + tensor("a", "U8", "8000", "0,8000") + "}", 8000);
    changed = small;
    changed[small.size() - 4001] = 'x';
    QVERIFY(fingerprint("small", small) != fingerprint("small changed", changed));
  }
};

SPANSCOPE_TEST(tst_safetensors, TestSafetensors, QCoreApplication)
#include "tst_safetensors.moc"
