#pragma once
// The algebras by name: what signatures over them need. Each is defined in a header of its own.
#include <cstdint>

namespace regraft {

class Poly;

struct Reals;     // concrete.h
struct Field;     // concrete.h
struct Terms;     // concrete.h
struct Counting;  // concrete.h
struct Symbolic;  // symbolic.h
struct Syntax;    // syntax.h
struct Trace;     // trace.h
class Code;       // code.h

template <class S>
struct NumTensor;
struct Residue;
struct Term;
struct CountIndex;
struct CountScalar;
struct CountTensor;
struct Sum;
struct SymbolicTensor;
struct SyntaxTree;
struct SyntaxTensor;
struct Traced;
class CodeIndex;
struct CodeScalar;
struct CodeTensor;

/// The sorts of an algebra, and its tensors.
template <class A>
struct Sorts {
  using Index = typename A::Index;
  using Scalar = typename A::Scalar;
  using Tensor = typename A::Tensor;
};

template <class I, class S, class T>
struct SortsAre {
  using Index = I;
  using Scalar = S;
  using Tensor = T;
};
template <>
struct Sorts<Reals> : SortsAre<int64_t, double, NumTensor<double>> {};
template <>
struct Sorts<Field> : SortsAre<int64_t, Residue, NumTensor<Residue>> {};
template <>
struct Sorts<Terms> : SortsAre<int64_t, Term, NumTensor<Term>> {};
template <>
struct Sorts<Trace> : SortsAre<int64_t, Traced, NumTensor<Traced>> {};
template <>
struct Sorts<Counting> : SortsAre<CountIndex, CountScalar, CountTensor> {};
template <>
struct Sorts<Symbolic> : SortsAre<Poly, Sum, SymbolicTensor> {};
template <>
struct Sorts<Syntax> : SortsAre<Poly, SyntaxTree, SyntaxTensor> {};
template <>
struct Sorts<Code> : SortsAre<CodeIndex, CodeScalar, CodeTensor> {};

}  // namespace regraft
