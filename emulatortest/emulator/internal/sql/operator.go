package sql

// UnaryOp is an operator with one operand, spelled as in a query.
type UnaryOp string

// The unary operators.
const (
	Not        UnaryOp = "NOT"
	Negate     UnaryOp = "-"
	Plus       UnaryOp = "+"
	Complement UnaryOp = "~"
)

// BinaryOp is an operator with two operands, spelled as in a query.
type BinaryOp string

// The binary operators.
const (
	Coalesce           BinaryOp = "??" // the right operand where the left one is undefined
	Or                 BinaryOp = "OR"
	And                BinaryOp = "AND"
	Equals             BinaryOp = "="
	NotEquals          BinaryOp = "!=" // <> is read as this
	Less               BinaryOp = "<"
	LessOrEqual        BinaryOp = "<="
	Greater            BinaryOp = ">"
	GreaterOrEqual     BinaryOp = ">="
	BitOr              BinaryOp = "|"
	BitXor             BinaryOp = "^"
	BitAnd             BinaryOp = "&"
	ShiftLeft          BinaryOp = "<<"
	ShiftRight         BinaryOp = ">>"  // keeps the sign
	ShiftRightUnsigned BinaryOp = ">>>" // fills with zeros
	Concat             BinaryOp = "||"
	Add                BinaryOp = "+"
	Subtract           BinaryOp = "-"
	Multiply           BinaryOp = "*"
	Divide             BinaryOp = "/"
	Modulo             BinaryOp = "%"
)

// precedence is how tightly an operator binds; a greater number binds more tightly.
type precedence int

const (
	precNone precedence = iota
	precConditional
	precCoalesce
	precOr
	precAnd
	precNot
	precMatch // IN, BETWEEN, LIKE
	precCompare
	precBitOr
	precBitXor
	precBitAnd
	precShift
	precConcat
	precAdd
	precMultiply
	precUnary
	precPostfix // member access, calls, and everything that has its own brackets
)

// binaryPrecedence returns precNone for what is no binary operator.
func binaryPrecedence(op BinaryOp) precedence {
	switch op {
	case Coalesce:
		return precCoalesce
	case Or:
		return precOr
	case And:
		return precAnd
	case Equals, NotEquals, Less, LessOrEqual, Greater, GreaterOrEqual:
		return precCompare
	case BitOr:
		return precBitOr
	case BitXor:
		return precBitXor
	case BitAnd:
		return precBitAnd
	case ShiftLeft, ShiftRight, ShiftRightUnsigned:
		return precShift
	case Concat:
		return precConcat
	case Add, Subtract:
		return precAdd
	case Multiply, Divide, Modulo:
		return precMultiply
	}
	return precNone
}
